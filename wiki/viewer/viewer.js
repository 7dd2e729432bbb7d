"use strict";
(() => {
  const $ = (s) => document.querySelector(s);
  const views = [...document.querySelectorAll(".view")];
  const docs = JSON.parse($("#index").textContent).map((d) => ({ ...d, lt: d.t.toLowerCase(), lx: d.x.toLowerCase() }));
  const search = $("#search"), results = $("#results"), tip = $("#tip");
  const links = [...document.querySelectorAll("aside a")];

  // A view is shown by the address: a view's own id, or the id of something in it.
  function show() {
    const id = decodeURIComponent(location.hash.slice(1)) || "contents";
    const el = document.getElementById(id === "top" ? "contents" : id) || $("#contents");
    const view = el.closest(".view") || $("#contents");
    for (const v of views) v.hidden = v !== view;
    for (const a of links) {
      if (a.getAttribute("href") === "#" + view.id) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
    document.title = (view.dataset.title ? view.dataset.title + " · " : "") + $("header h1").textContent;
    if (el === view) window.scrollTo(0, 0);
    else el.scrollIntoView({ block: "center" });
    tip.hidden = true;
  }

  // Words of a question; Chinese, Japanese and Korean are cut into pairs, since they are written without spaces.
  const cjk = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
  function terms(q) {
    const out = [];
    for (const w of q.toLowerCase().split(/[\s,.;:!?()"'“”‘’，。；：！？（）、]+/).filter(Boolean)) {
      const run = [...w];
      if (run.length > 2 && run.every((c) => cjk.test(c))) for (let i = 0; i + 1 < run.length; i++) out.push(run[i] + run[i + 1]);
      else out.push(w);
    }
    return [...new Set(out)];
  }

  function find(q) {
    const ts = terms(q);
    if (!ts.length) return [];
    const hits = [];
    for (const d of docs) {
      let score = 0, met = 0;
      for (const t of ts) {
        const inTitle = d.lt.includes(t), n = d.lx.split(t).length - 1;
        if (inTitle || n) met++;
        score += (inTitle ? (d.c ? 1 : 6) : 0) + Math.min(n, 4) * (d.c ? 2 : 1);
      }
      if (met) hits.push({ d, score: score * met * met / (d.c ? 1 : Math.sqrt(1 + d.x.length / 2000)), met });
    }
    hits.sort((a, b) => b.met - a.met || b.score - a.score);
    const best = hits.length ? hits[0].met : 0;
    return hits.filter((h) => h.met >= Math.max(1, best - 1)).slice(0, 30);
  }

  // Only text nodes are made from what is found: nothing of it is ever parsed.
  function excerpt(d, ts) {
    let at = -1;
    for (const t of ts) { const i = d.lx.indexOf(t); if (i >= 0 && (at < 0 || i < at)) at = i; }
    const from = Math.max(0, at - 60), text = d.x.slice(from, from + 220);
    const p = document.createElement("span");
    let rest = (from ? "…" : "") + text;
    while (rest) {
      let i = -1, len = 0;
      for (const t of ts) { const k = rest.toLowerCase().indexOf(t); if (k >= 0 && (i < 0 || k < i)) { i = k; len = t.length; } }
      if (i < 0) { p.append(rest); break; }
      p.append(rest.slice(0, i));
      const m = document.createElement("mark");
      m.textContent = rest.slice(i, i + len);
      p.append(m);
      rest = rest.slice(i + len);
    }
    return p;
  }

  function update() {
    const q = search.value.trim();
    results.replaceChildren();
    results.hidden = !q;
    if (!q) return;
    const ts = terms(q), hits = find(q);
    if (!hits.length) { results.append("Nothing found."); return; }
    for (const { d } of hits) {
      const a = document.createElement("a");
      a.href = "#" + (d.c || d.p);
      const b = document.createElement("b");
      b.textContent = d.t + (d.c ? " — claim" : "");
      a.append(b, excerpt(d, ts));
      a.addEventListener("click", () => { search.value = ""; update(); });
      results.append(a);
    }
  }

  // The words a claim rests on, on hover and on focus; for footnotes, the note.
  function showTip(el) {
    let quote = el.dataset ? el.dataset.quote : "", source = el.dataset ? el.dataset.source : "";
    if (el.classList.contains("footnote-ref")) {
      const note = document.getElementById(decodeURIComponent(el.getAttribute("href").slice(1)));
      if (!note) return;
      quote = note.textContent.replace(/\s*↩︎?\s*$/, "");
      source = "";
    }
    if (!quote) return;
    tip.replaceChildren();
    tip.append(source ? "“" + quote + "”" : quote);
    if (source) { const c = document.createElement("cite"); c.textContent = source; tip.append(c); }
    tip.hidden = false;
    const r = el.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(r.left, innerWidth - tip.offsetWidth - 8)) + scrollX + "px";
    tip.style.top = r.bottom + scrollY + 6 + "px";
  }
  for (const el of document.querySelectorAll(".claim, .footnote-ref")) {
    el.addEventListener("mouseenter", () => showTip(el));
    el.addEventListener("focus", () => showTip(el));
    el.addEventListener("mouseleave", () => (tip.hidden = true));
    el.addEventListener("blur", () => (tip.hidden = true));
  }

  const root = document.documentElement;
  function theme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  }
  $("#theme").addEventListener("click", theme);
  $("#keys").addEventListener("click", () => (location.hash = "help"));

  function step(n) {
    const i = links.findIndex((a) => a.hasAttribute("aria-current"));
    const next = links[Math.max(0, Math.min(links.length - 1, i + n))];
    if (next) location.hash = next.getAttribute("href");
  }
  addEventListener("keydown", (e) => {
    if (e.key === "Escape") { search.value = ""; update(); search.blur(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      if (document.activeElement === search && e.key === "ArrowDown") { const a = results.querySelector("a"); if (a) { a.focus(); e.preventDefault(); } }
      return;
    }
    const go = { c: "contents", x: "contradictions", s: "sources", e: "seeds", g: "graph", "?": "help" }[e.key];
    if (go) { location.hash = go; e.preventDefault(); }
    else if (e.key === "/") { search.focus(); e.preventDefault(); }
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "d") theme();
  });
  search.addEventListener("input", update);
  addEventListener("hashchange", show);
  show();
})();
