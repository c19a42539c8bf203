/**
 * A plugin of `deno lint` for wording (CONTRIBUTING.md). The text of an error ends without a period;
 * NickServ and ChanServ answer people on IRC in whole sentences, as services do. The summary of an
 * endpoint ends without a period, too. Comments and texts
 * contain none of a few phrases that make readers read a clause twice.
 */
import { relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** Folders whose errors reach a caller of HTTP, MCP or the command line. */
const FOLDERS = ["services/", "routes/", "mcp/", "cli/", "http/"];

/** Services of IRC, whose errors are notices for people. */
const NOTICES = "services/chat/irc_server/services/";

/** Names of error classes, including those that do not end in "Error". */
const ERRORS =
  /^(?:.*Error|.*Failed|Invalid.*|Unauthorized|Forbidden|NotFound|Conflict|TooLarge|TooMany|TooSlow|Unavailable|TimedOut|UpstreamRefused)$/;

/** The end of a text, as far as it is literal. */
function endOf(node: Deno.lint.Node | undefined): string {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis.at(-1)?.cooked ?? "";
  if (node?.type === "BinaryExpression") return endOf(node.right);
  return "";
}

/** Phrases that no comment or text contains, each with better words. */
const PHRASES: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/@throws [^\n]*\bwhere\b/, 'write "@throws Conflict if …"'],
  [/@throws [^\n]*\bas \{@link/, 'write "@throws like {@link …}"'],
  [/\b[Nn]ull where\b/, 'write "null if …"'],
  [/\bwhere there (?:is|are) (?:none|no)\b/i, 'write "if there is none"'],
  [/\bwhoever\b|\bwho has\b/i, "name the account, the caller or the person"],
  [/\b(?:is|are) told so\b|\bthan need be\b/i, "say what happens, in other words"],
  [/\bfor ever\b/i, 'write "forever"'],
  [/(?<![\w-])(the|an?|is|of|to|in|if|and) \1(?![\w-])/i, "a word is there twice"],
];

/** Why a text reads badly, or null. */
function faultOf(text: string): string | null {
  for (const [pattern, advice] of PHRASES) {
    const [phrase] = pattern.exec(text) ?? [];
    if (phrase !== undefined) return `"${phrase}" reads badly: ${advice}`;
  }
  return null;
}

/** Reports comments and texts with one of the phrases. */
const plainWords: Deno.lint.Rule = {
  create(context) {
    // The plugin and its test contain every phrase.
    if (/lint_wording_test\.ts$|lint\/wording\.ts$/.test(context.filename)) return {};
    const check = (node: Deno.lint.Node, text: string) => {
      const message = faultOf(text);
      if (message !== null) context.report({ node, message });
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const message = faultOf(comment.value);
          if (message !== null) context.report({ range: comment.range, message });
        }
      },
      Literal(node) {
        if (typeof node.value === "string") check(node, node.value);
      },
      TemplateElement(node) {
        check(node, node.cooked);
      },
    };
  },
};

/** Functions that describe an endpoint. */
const ROUTES: readonly string[] = ["specialRoute", "operation", "serverOperation"];

/** Whether a text ends with a period; an ellipsis is none. */
function endsWithPeriod(node: Deno.lint.Node | undefined): boolean {
  return /(?:^|[^.])\.$/.test(endOf(node));
}

/** Reports endpoints whose summary, which titles them in the OpenAPI document, has a period. */
const summaryPeriod: Deno.lint.Rule = {
  create(context) {
    return {
      CallExpression(node) {
        if (node.callee.type !== "Identifier" || !ROUTES.includes(node.callee.name)) return;
        const description = node.arguments.find((one) => one.type === "ObjectExpression");
        if (description === undefined) return;
        for (const property of description.properties) {
          if (property.type !== "Property" || property.key.type !== "Identifier") continue;
          if (property.key.name !== "summary" || !endsWithPeriod(property.value)) continue;
          const message = "The summary of an endpoint ends without a period";
          context.report({ node: property.value, message });
        }
      },
    };
  },
};

/** The plugin, for `deno.json`. */
const plugin: Deno.lint.Plugin = {
  name: "wording",
  rules: {
    "plain-words": plainWords,
    "summary-period": summaryPeriod,
    "error-period": {
      create(context) {
        const path = relative(ROOT, resolve(ROOT, context.filename));
        const isChecked = FOLDERS.some((folder) => path.startsWith(folder)) &&
          !path.startsWith(NOTICES);
        if (!isChecked) return {};
        return {
          NewExpression(node) {
            if (node.callee.type !== "Identifier" || !ERRORS.test(node.callee.name)) return;
            const [text] = node.arguments;
            if (!endsWithPeriod(text)) return;
            context.report({ node, message: "The text of an error ends without a period" });
          },
        };
      },
    },
  },
};

export default plugin;
