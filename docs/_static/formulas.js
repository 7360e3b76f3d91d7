// Formulas are TeX in the page until KaTeX, which comes with the site, sets them.
document.addEventListener("DOMContentLoaded", () => {
  for (const element of document.querySelectorAll(".katex-source")) {
    const source = element.textContent;
    const displayMode = element.classList.contains("katex-display-source");
    katex.render(source, element, { displayMode, throwOnError: false });
    element.classList.add("katex-done");
  }
});
