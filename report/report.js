"use strict";
(() => {
  const $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)];
  const root = document.documentElement;
  root.classList.add("scripted"); // controls that need this script are shown from here on

  // Items: what is searched is what is read, folded once.
  const table = $("#item-table"), find = $("#find");
  const rows = table ? [...table.tBodies[0].rows].map((tr, at) => ({ tr, at, text: tr.textContent.toLowerCase() })) : [];
  const chosen = (name) => ($(`input[name="${name}"]:checked`) || { value: "" }).value;
  function filter() {
    if (!table) return;
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean), side = chosen("side"), change = chosen("change");
    let n = 0;
    for (const { tr, text } of rows) {
      const show = (!side || tr.dataset.side === side) && (!change || tr.dataset.change === change) && words.every((w) => text.includes(w));
      tr.hidden = !show;
      if (show) n++;
    }
    $("#shown").textContent = n + " of " + rows.length + " shown";
    $("#no-items").hidden = n > 0;
  }
  function clear() {
    if (!table) return;
    find.value = "";
    for (const r of $$('.filters input[value=""]')) r.checked = true;
    filter();
  }

  // A column sorts up, then down, then as it was. What has no value comes last either way; ties keep their order.
  function sortable(th, column) {
    const b = document.createElement("button");
    b.type = "button";
    b.append(...th.childNodes);
    th.append(b);
    b.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[th.getAttribute("aria-sort")] || "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (next !== "none") th.setAttribute("aria-sort", next);
      const number = th.dataset.sort === "number", sign = next === "descending" ? -1 : 1;
      const value = ({ tr }) => {
        const td = tr.cells[column];
        if (!number) return td.textContent.trim().toLowerCase();
        return td.dataset.v === undefined ? null : Number(td.dataset.v);
      };
      const order = rows.map((r) => ({ r, v: value(r) }));
      order.sort((a, b) => {
        if (next === "none") return a.r.at - b.r.at;
        if (a.v === null || b.v === null) return (a.v === null) - (b.v === null) || a.r.at - b.r.at;
        return sign * (a.v < b.v ? -1 : a.v > b.v ? 1 : 0) || a.r.at - b.r.at;
      });
      table.tBodies[0].append(...order.map((o) => o.r.tr));
    });
  }
  if (table) {
    [...table.tHead.rows[0].cells].forEach(sortable);
    find.addEventListener("input", filter);
    for (const r of $$(".filters input[type=radio]")) r.addEventListener("change", filter);
    $("#clear").addEventListener("click", () => { clear(); find.focus(); });
    filter(); // a browser that goes back may have kept what was chosen
  }

  function theme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }
  function help(show) {
    const h = $("#help");
    h.hidden = show === undefined ? !h.hidden : !show;
    $("#keys").setAttribute("aria-expanded", String(!h.hidden));
    if (!h.hidden) h.scrollIntoView({ block: "nearest" });
  }
  $("#theme").addEventListener("click", theme);
  $("#keys").addEventListener("click", () => help());

  // The section that is read: the last one whose head has passed the upper third of the window.
  const links = $$("aside li a"), sections = links.map((a) => document.getElementById(a.getAttribute("href").slice(1)));
  function current() {
    let at = -1;
    sections.forEach((s, i) => { if (s.getBoundingClientRect().top < innerHeight / 3) at = i; });
    if (innerHeight + scrollY >= root.scrollHeight - 2) at = sections.length - 1;
    return at;
  }
  function follow() {
    const at = current();
    links.forEach((a, i) => { if (i === at) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current"); });
  }
  addEventListener("scroll", follow, { passive: true });
  follow();
  let target = -1; // keys count from where they lead, not from where a smooth scroll has got to
  addEventListener("scrollend", () => (target = -1));
  function step(n) {
    target = Math.max(0, Math.min(sections.length - 1, (target < 0 ? current() : target) + n));
    sections[target].scrollIntoView();
  }

  function fold(open) {
    for (const d of $$("details")) d.open = open;
  }
  let before = null; // paper can not be unfolded
  addEventListener("beforeprint", () => { before = $$("details").map((d) => d.open); fold(true); });
  addEventListener("afterprint", () => { if (before) $$("details").forEach((d, i) => (d.open = before[i])); before = null; });

  addEventListener("keydown", (e) => {
    if (e.key === "Escape") { help(false); clear(); if (document.activeElement === find) find.blur(); return; }
    const el = document.activeElement;
    if (e.ctrlKey || e.metaKey || e.altKey || (el.tagName === "INPUT" && el.type === "search")) return;
    if (e.key === "/" && find) { e.preventDefault(); find.focus(); find.scrollIntoView({ block: "center" }); }
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "e") fold($$("details").some((d) => !d.open));
    else if (e.key === "d") theme();
    else if (e.key === "?") help();
  });
})();
