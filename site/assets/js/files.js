// What a page makes of the reader's view: files to keep, and a citation.
(() => {
  const { link } = probeEffect.page;

  // Text that a spreadsheet would run gets an apostrophe in front (OWASP, CSV injection), as in exports/files.py.
  const cell = (value, formula) => {
    const text = String(value ?? "");
    const safe = typeof value === "string" && new RegExp(`^(?:${formula})`).test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  const csv = (records, formula) => [Object.keys(records[0] ?? {}), ...records.map(Object.values)]
    .map((row) => `${row.map((value) => cell(value, formula)).join(",")}\n`).join("");

  const save = (name, content, type) => {
    const file = content instanceof Blob ? content : new Blob([content], { type });
    const made = Object.assign(link("", URL.createObjectURL(file)), { download: name });
    made.click();
    setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
  };

  // The reader's view as both of its files: `records` as CSV, and as JSON under `name` with its address.
  const savers = (file, name, records, { version, formula }) => ({
    csv: () => save(`${file}.csv`, csv(records(), formula), "text/csv"),
    json: () => save(`${file}.json`, JSON.stringify({ version, address: location.href, [name]: records() }, null, 1), "application/json"),
  });

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

  probeEffect.files = { csv, save, savers, png, cite };
})();
