/** Diagrams in the language Pikchr. */
import type { Pikchr } from "pikchr-js";
// @ts-types="npm:@types/sanitize-html@2.16.2"
import sanitize from "sanitize-html";
import { escapeHtml } from "./plain.ts";

/** The diagrams of a text. Marks stand in for them until the text has passed the sanitiser. */
export interface Diagrams {
  /** A value that the text's author cannot guess. */
  readonly mark: string;
  readonly sources: string[];
}

/**
 * Most diagrams of one text, and the longest source of one, in UTF-16 units; others are shown as
 * source.
 */
const MAX_DIAGRAMS = 50;
const MAX_SOURCE = 20_000;
/** Longest picture, in UTF-16 units. */
const MAX_PICTURE = 500_000;

/** The mark for a diagram; its source as code if a limit is exceeded. */
export function diagramOf(source: string, { mark, sources }: Diagrams): string {
  if (sources.length >= MAX_DIAGRAMS || source.length > MAX_SOURCE) return sourceOf(source);
  sources.push(source);
  return `<p>${mark}${sources.length - 1};</p>`;
}

/** Replaces the marks in safe HTML by the pictures. */
export function withDiagrams(html: string, { mark, sources }: Diagrams, pikchr: Pikchr): string {
  if (sources.length === 0) return html;
  return html.replaceAll(new RegExp(`<p>${mark}(\\d+);</p>`, "g"), (_, index) => {
    const source = sources[Number(index)] ?? "";
    const { svg, width } = pikchr.render(source, "pikchr", pikchr.flags.PLAINTEXT_ERRORS);
    // In place of a picture, the library returns its message, with the lines around the error.
    if (width < 0) return sourceOf(svg.trim());
    return svg.length > MAX_PICTURE ? sourceOf(source) : safePicture(svg);
  });
}

function sourceOf(source: string): string {
  return `<pre><code class="language-pikchr">${escapeHtml(source)}</code></pre>`;
}

const SHAPE = ["fill", "stroke", "stroke-width", "stroke-dasharray"];

/** Sanitises a picture. Attributes replace its styles, which a page may forbid. */
function safePicture(svg: string): string {
  return sanitize(svg, {
    allowedTags: ["svg", "path", "polygon", "circle", "ellipse", "text", "tspan"],
    allowedAttributes: {
      svg: ["class", "viewBox", "width", "height"],
      path: ["d", ...SHAPE],
      polygon: ["points", ...SHAPE],
      circle: ["cx", "cy", "r", ...SHAPE],
      ellipse: ["cx", "cy", "rx", "ry", ...SHAPE],
      text: [
        "x",
        "y",
        "fill",
        "text-anchor",
        "dominant-baseline",
        "font-size",
        "font-style",
        "font-weight",
        "font-family",
        "transform",
      ],
      tspan: [],
    },
    allowedClasses: { svg: ["pikchr"] },
    parser: { lowerCaseAttributeNames: false },
    transformTags: {
      "*": (tagName, { style = "", ...attribs }) => {
        const styles = style.split(";").map((part) => part.split(":", 2))
          .filter(([name = "", value = ""]) => SHAPE.includes(name) && /^[\w(),. -]+$/.test(value));
        return { tagName, attribs: Object.assign(attribs, Object.fromEntries(styles)) };
      },
    },
  }).trim();
}
