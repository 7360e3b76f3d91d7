// What is too wide for a narrow screen keeps a size that can be read and scrolls; site.css says what narrow is.
document.addEventListener("DOMContentLoaded", () => {
  const wrap = (image) => {
    if (image.naturalWidth < 800) return;
    const frame = document.createElement("div");
    frame.className = "wide-picture";
    frame.tabIndex = 0;
    frame.style.setProperty("--picture", `${image.naturalWidth / 2}px`);
    image.replaceWith(frame);
    frame.append(image);
  };
  for (const image of document.querySelectorAll(".bd-article img:not(.sphx-glr-thumbcontainer img)")) {
    if (image.complete) wrap(image);
    else image.addEventListener("load", () => wrap(image), { once: true });
  }
  // short names and options stay in one piece
  for (const name of document.querySelectorAll(".bd-article code .pre")) {
    if (name.textContent.length > 30) name.classList.add("long-name");
  }
  // a table that scrolls anyway need not have columns of one word; those of names do not scroll
  for (const frame of document.querySelectorAll(".pst-scrollable-table-container:not(:has(.autosummary))")) {
    if (frame.scrollWidth > frame.clientWidth) frame.classList.add("wide-table");
  }
});
