import assert from "node:assert/strict";

const ELEMENTS = new Set(
  ("a abbr address b big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em " +
    "h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strike strong sub summary sup " +
    "table tbody td tfoot th thead tr tt u ul var svg path polygon circle ellipse text tspan")
    .split(" "),
);
const ATTRIBUTES = new Set(
  ("href title rel src alt width height loading class start type align colspan rowspan open viewbox d fill " +
    "stroke stroke-width stroke-dasharray points cx cy r rx ry x y text-anchor dominant-baseline font-size " +
    "font-style font-weight font-family transform").split(" "),
);

/**
 * Reads HTML as a tokeniser of browsers does, and fails on anything that is not on a short list. It
 * is stricter than HTML: the sanitiser writes every attribute in double quotes, and every `<` that is
 * no tag as `&lt;`.
 */
export function assertSafe(html: string, source: string): void {
  const outside = html.replace(/<(\/?)([^>"]*(?:"[^"]*"[^>"]*)*)>/g, (_, slash, inner: string) => {
    const [, name = "", rest = ""] = /^([a-z][a-z0-9]*)((?:\s[^]*|\/)?)$/.exec(inner) ?? [];
    assert.ok(ELEMENTS.has(name), `<${inner}> of ${JSON.stringify(source)}`);
    if (slash === "/") assert.equal(rest, "");
    else assertAttributes(rest, source);
    return "";
  });
  assert.doesNotMatch(outside, /</, source);
}

function assertAttributes(text: string, source: string): void {
  const left = text.replace(/\s+([A-Za-z-]+)(?:="([^"]*)")?/g, (_, name: string, value = "") => {
    assert.ok(ATTRIBUTES.has(name.toLowerCase()), `${name} of ${JSON.stringify(source)}`);
    if (name === "href" || name === "src") {
      const address = unescaped(value);
      assert.match(
        address,
        /^(?:(?:https?|mailto|ftp|ircs?):|#|\/(?!\/)|[^:/?#]*(?:[/?#]|$))/i,
        JSON.stringify(source),
      );
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(address, /^[\s\u0000-\u001f]*(?:\/\/|[a-z]*script:)/i, source);
    }
    return "";
  });
  assert.match(left, /^\s*\/?$/, source);
}

function unescaped(value: string): string {
  return value.replace(/&#x([0-9a-f]+);?/gi, (_, code) => String.fromCodePoint(parseInt(code, 16)))
    .replace(/&#(\d+);?/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&colon;/g, ":").replace(/&amp;/g, "&");
}
