/**
 * A plugin of `deno lint` for the wording of errors (CONTRIBUTING.md): the text of an error ends
 * without a period. NickServ and ChanServ answer people on IRC in whole sentences, as services do.
 */
import { relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** Folders whose errors reach a caller of HTTP, MCP or the command line. */
const FOLDERS = ["services/", "routes/", "mcp/", "cli/", "http/"];

/** Services of IRC, whose errors are notices for people. */
const NOTICES = "services/irc_server/services/";

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

/** The plugin, for `deno.json`. */
const plugin: Deno.lint.Plugin = {
  name: "wording",
  rules: {
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
            if (!/(?:^|[^.])\.$/.test(endOf(text))) return;
            context.report({ node, message: "The text of an error ends without a period" });
          },
        };
      },
    },
  },
};

export default plugin;
