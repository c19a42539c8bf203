import type { ProviderApi } from "./catalog.ts";

/**
 * Whether a text matches a pattern, in which `*` stands for any characters and `?` for one. It
 * takes at most length times length steps, whatever the pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  let star = -1;
  let starText = 0;
  while (inText < text.length) {
    const symbol = pattern[inPattern];
    if (symbol === "*") {
      star = inPattern++;
      starText = inText;
    } else if (symbol === "?" || symbol === text[inText]) {
      inPattern++;
      inText++;
    } else if (star >= 0) {
      inPattern = star + 1;
      inText = ++starText;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern++;
  return inPattern === pattern.length;
}

/**
 * Whether a model is allowed: blocked under none of its spellings, and in the list of allowed
 * models, if there is one.
 *
 * @param api decides which spellings are the same model
 */
export function isAllowed(
  model: string,
  { allow, block }: { readonly allow: readonly string[]; readonly block: readonly string[] },
  api: ProviderApi = "openai",
): boolean {
  const spellings = block.length === 0 ? [] : spellingsOf(model, api);
  const isBlocked = block.some((pattern) =>
    matchesPattern(pattern, model) ||
    spellings.some((spelling) => matchesPattern(pattern.toLowerCase(), spelling))
  );
  return !isBlocked &&
    (allow.length === 0 || allow.some((pattern) => matchesPattern(pattern, model)));
}

/** The names under which providers of an API answer with the same model, in small letters. */
function spellingsOf(model: string, api: ProviderApi): readonly string[] {
  const name = model.trim().toLowerCase();
  switch (api) {
    case "ollama": {
      const [tagged = ""] = name.split("@", 1);
      const short = tagged.replace(/^(?:registry\.ollama\.ai\/)?(?:library\/)?/, "")
        .replace(/:latest$/, "");
      return [name, short, `${short}:latest`];
    }
    case "bedrock": {
      // In an ARN, and under a profile of several regions.
      const id = name.slice(name.lastIndexOf("/") + 1);
      return [name, id, id.replace(/^[a-z-]+\.(?=[^.]+\.)/, "")];
    }
    case "gemini":
      return [name, name.replace(/^(?:models\/)+/, "")];
    case "openai":
      // OpenRouter's ways to the same model.
      return [name, name.replace(/:(?:nitro|floor|online|exacto)$/, "")];
    default:
      return [name];
  }
}
