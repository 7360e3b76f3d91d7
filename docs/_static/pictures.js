// Pictures of several panels would be too small to read on a narrow screen: there they keep half of their size and scroll.
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
});
