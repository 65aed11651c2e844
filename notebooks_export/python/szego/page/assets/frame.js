"use strict";
// The page around the figures: theme, navigation, links into what is folded, paper.
(() => {
  const root = document.documentElement;
  // What needs a script is there from the start, with its room, and is seen from here on.
  root.dataset.script = "";

  // The button says what a click does, also when the system's own choice changes.
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const nameTheme = () => (theme.textContent = isDark() ? "Switch to light" : "Switch to dark");
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();

  // The section that is being read is marked in the navigation.
  const links = new Map(Array.from(document.querySelectorAll("nav > ul > li > a"), (link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries)
        if (entry.isIntersecting) for (const [id, link] of links) link.ariaCurrent = id === entry.target.id ? "true" : null;
    },
    { rootMargin: "-20% 0px -79% 0px" }, // a line across the window
  );
  for (const section of document.querySelectorAll("main > section")) watch.observe(section);

  // Opens whatever the target of the address is folded into: not every browser does.
  function reveal() {
    const target = document.querySelector(":target");
    let folded = false;
    for (let at = target; at; at = at.parentElement)
      if (at.localName === "details" && !at.open) folded = at.open = true;
    if (folded) target.scrollIntoView();
  }
  addEventListener("load", reveal);
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  // Paper cannot be unfolded. Rows of tables and meanings of columns stay behind.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = Array.from(document.querySelectorAll("main details:not([open], .preview, #data *, #others *)"));
    for (const details of unfolded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
  });
})();
