// The figure: Bokeh's, without data, coloured by the page's own tokens.

const MARKS = { nan: "--block", inf: "--block", neg: "--block", failure: "--block", below: "--note", spike: "--warn" };

const HEAD = 28; // pixels for a picture's title

export function token(name) {
  const probe = document.createElement("span");
  probe.className = "hidden";
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function font(name) {
  return getComputedStyle(document.body).getPropertyValue(name).trim();
}

export class Figure {
  constructor(manager, doc, host) {
    this.manager = manager;
    this.doc = doc;
    this.host = host;
    this.main = doc.get_model_by_name("main");
    this.strip = doc.get_model_by_name("strip");
    this.paint();
  }

  static async load(host, release, by, log) {
    const answer = await fetch(`/runs/figures/${release}/${by}-${log}.json`);
    if (!answer.ok) throw new Error("The chart could not be loaded.");
    const item = await answer.json();
    const inner = document.createElement("div");
    host.replaceChildren(inner);
    const manager = await window.Bokeh.embed.embed_item(item, inner);
    return new Figure(manager, window.Bokeh.documents.at(-1), host);
  }

  close() {
    this.manager.clear?.();
    const at = window.Bokeh.documents.indexOf(this.doc);
    if (at >= 0) window.Bokeh.documents.splice(at, 1);
  }

  model(name) {
    return this.doc.get_model_by_name(name);
  }

  put(name, columns) {
    this.model(`${name}-data`).data = columns;
  }

  range(name) {
    return this.model(name);
  }

  // Colours and fonts, at the start and whenever the theme changes.
  paint() {
    const [ink, dim, line, edge, surface, accent] = ["--ink", "--ink-2", "--line", "--edge", "--surface", "--accent"].map(token);
    for (const plot of [this.main, this.strip]) {
      plot.background_fill_color = surface;
      plot.border_fill_color = surface; // without one, what was painted there before shines through
      plot.outline_line_color = edge;
      for (const part of [...plot.left, ...plot.below]) {
        part.axis_line_color = null;
        part.major_tick_line_color = line;
        part.minor_tick_line_color = null;
        part.major_label_text_color = dim;
        part.major_label_text_font = font("--sans");
        part.major_label_text_font_size = "12px";
      }
      for (const part of plot.center) part.grid_line_color = line;
    }
    for (const [name, colour] of Object.entries(MARKS)) {
      for (const prefix of ["", "all-"]) this.colour(prefix + name, token(colour));
    }
    for (const prefix of ["", "all-"]) this.colour(`${prefix}failure-line`, token("--block"));
    this.colour("cursor", ink);
    this.model("crosshair").line_color = dim;
    const window_ = this.model("window").overlay;
    window_.fill_color = accent;
    window_.fill_alpha = 0.12;
    window_.line_color = accent;
  }

  colour(name, colour) {
    const glyph = this.model(name).glyph;
    glyph.line_color = colour;
    if ("fill_color" in glyph.properties) glyph.fill_color = colour;
  }

  // The chart as a picture, on its own ground and with its title.
  async picture(title) {
    const [view] = [...this.manager];
    const drawn = await createImageBitmap(await view.export("png", true).to_blob());
    const scale = drawn.width / this.host.clientWidth;
    const head = Math.round(HEAD * scale);
    const canvas = new OffscreenCanvas(drawn.width, drawn.height + head);
    const brush = canvas.getContext("2d");
    brush.fillStyle = token("--surface");
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.fillStyle = token("--ink");
    brush.font = `600 ${Math.round(14 * scale)}px ${font("--sans")}`;
    brush.fillText(title, Math.round(8 * scale), Math.round(20 * scale), canvas.width - 16 * scale);
    brush.drawImage(drawn, 0, head);
    return canvas.convertToBlob({ type: "image/png" });
  }
}

export function onTheme(act) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
  new MutationObserver(act).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
