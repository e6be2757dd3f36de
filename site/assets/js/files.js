// What a page makes of the reader's view: tables, files to keep, and a citation.
(() => {
  const element = (name, text = "", className = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const link = (text, address) => {
    const made = element("a", text);
    made.href = address;
    return made;
  };

  const filled = (template, words) => template.replace(/\{(\w+)\}/g, (_, name) => words[name]);

  // Text that a spreadsheet would run gets an apostrophe in front (OWASP, CSV injection).
  const cell = (value, formula) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && new RegExp(`^(?:${formula})`).test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  const csv = (records, formula) => {
    const names = Object.keys(records[0] ?? {});
    return [names, ...records.map((record) => names.map((name) => record[name]))]
      .map((row) => `${row.map((value) => cell(value, formula)).join(",")}\n`).join("");
  };

  const save = (name, content, type) => {
    const file = content instanceof Blob ? content : new Blob([content], { type });
    const made = link("", URL.createObjectURL(file));
    made.download = name;
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
  };

  // A drawing on paper: without a ground of its own it would be lost on a dark one.
  const png = async (view, paper) => {
    const drawn = await view.toCanvas(2);
    const pen = drawn.getContext("2d");
    pen.globalCompositeOperation = "destination-over";
    pen.fillStyle = paper;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillRect(0, 0, drawn.width, drawn.height);
    return new Promise((resolve) => { drawn.toBlob(resolve, "image/png"); });
  };

  // The view's citation: its title and whole address in the places that the data leaves for them.
  const cite = (part, templates, title) => {
    part.querySelectorAll("[data-cite]").forEach((place) => {
      place.textContent = templates[place.dataset.cite].replace("@title@", title)
        .replace("@address@", location.origin + location.pathname + location.search);
    });
  };

  probeEffect.files = { element, link, filled, csv, save, png, cite };
})();
