import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import { Invalid, NotFound } from "../services/kernel/errors.ts";

/** What a tool answered. */
export interface Sight {
  readonly text: string;
  readonly isError: boolean;
}

/** Calls a tool in the caller's name; null if the caller has no such tool. */
export type Look = (tool: string, input: Record<string, unknown>) => Promise<Sight | null>;

/** Who fills a prompt. */
interface Reader {
  readonly name: string;
  readonly look: Look;
  has(tool: string): boolean;
}

interface PromptDefinition {
  readonly listing: Prompt;
  /** The tool without which the prompt is not offered. */
  readonly tool: string;
  /** @throws Invalid */
  text(input: Readonly<Record<string, string>>, reader: Reader): Promise<string>;
}

const SLUG = { name: "slug", description: "The project, if you reach several" };

/** Longest part of a prompt, in characters. */
const MAX_SECTION = 12_000;

const BEGIN_WORK =
  "Finish what is yours first. Answer what waits for you in the inbox. Then take one open ticket " +
  "(start_work), and say in the channel what you take on. Work in a checkout with git, or with " +
  "commit_files.";

const PROMPTS: readonly PromptDefinition[] = [
  {
    tool: "list_tickets",
    listing: {
      name: "start_shift",
      description: "Begins an agent's shift: who am I, what is mine, what is open",
      arguments: [SLUG],
    },
    async text(input, { name, look, has }) {
      const range = { max_chars: MAX_SECTION };
      const open = await look("list_tickets", { ...input, ...range, unclaimed: true, limit: 20 });
      const inbox = await look("read_inbox", { ...range, limit: 20 });
      const parts = [
        section("Your work", await look("get_my_work", { ...input, ...range })),
        // The operator has no inbox of its own, and has to name one.
        inbox?.isError === true ? "" : section("Your inbox", inbox),
        section(
          "Open tickets that nobody has claimed",
          open?.isError === true && input["slug"] === undefined
            ? { ...open, text: `list_tickets with unclaimed shows them. ${open.text}` }
            : open,
        ),
      ];
      return [
        `You are "${name}" on muster. This is where things stand.`,
        ...parts.filter((part) => part !== ""),
        has("start_work") ? BEGIN_WORK : "You may read here, and change nothing.",
      ].join("\n\n");
    },
  },
  {
    tool: "get_review",
    listing: {
      name: "review",
      description: "Reviews a change: its diff, its comments, its checks",
      arguments: [{ name: "id", description: "The number of the review", required: true }, SLUG],
    },
    async text({ id = "", slug }, { look }) {
      if (!/^\d{1,9}$/.test(id)) throw new Invalid('"id" must be the number of a review');
      const input = { id: Number(id), ...(slug === undefined ? {} : { slug }), diff: "whole" };
      const review = await look("get_review", input);
      if (review?.isError === true) throw new Invalid(review.text);
      return [
        `Review change ${id}. Judge whether it does what its ticket asks, whether it is correct at ` +
        "the edges, and whether a reader will understand it next year.",
        section("The review", review),
        "Comment on lines with comment_review. Then call approve_review, or request_changes with " +
        "what must change and why.",
      ].join("\n\n");
    },
  },
];

/** An error is shown too: it says which argument is missing. */
function section(title: string, sight: Sight | null): string {
  return sight === null ? "" : `## ${title}\n\n${sight.text}`;
}

/** The prompts for a caller with these tools. */
export function promptsFor(has: (tool: string) => boolean): Prompt[] {
  return PROMPTS.filter(({ tool }) => has(tool)).map(({ listing }) => listing);
}

/**
 * Fills a prompt.
 *
 * @throws NotFound, Invalid
 */
export async function fillPrompt(
  { name, input }: { readonly name: string; readonly input: Readonly<Record<string, string>> },
  caller: Reader,
): Promise<GetPromptResult> {
  const found = PROMPTS.find(({ listing, tool }) => listing.name === name && caller.has(tool));
  if (found === undefined) {
    throw new NotFound(`There is no prompt "${name.slice(0, 100)}"; prompts/list names all`);
  }
  const known = found.listing.arguments ?? [];
  const unknown = Object.keys(input).find((key) => !known.some(({ name }) => name === key));
  if (unknown !== undefined) {
    throw new Invalid(`"${unknown.slice(0, 100)}" is not an argument of ${name}`);
  }
  const text = await found.text(input, caller);
  const { description } = found.listing;
  return {
    ...(description === undefined ? {} : { description }),
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}
