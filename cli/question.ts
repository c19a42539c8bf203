import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printFields, printJson, table, visible } from "./output.ts";

interface AskOptions extends CommandOptions {
  readonly choices?: string;
  readonly default?: string;
  readonly deadline?: string;
  readonly to?: string;
  readonly ticket?: string;
  readonly wait?: boolean;
}

const questionSchema = z.looseObject({
  id: z.number(),
  asker: z.string(),
  text: z.string(),
  choices: z.array(z.string()),
  to: z.string().nullable(),
  deadline: z.string().nullable(),
  state: z.string(),
  answer: z.string().nullable(),
  answered_by: z.string().nullable(),
});
type Question = z.infer<typeof questionSchema>;

/** `muster question list`. */
async function list(options: CommandOptions & { readonly state?: string }): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = new URLSearchParams({ state: options.state ?? "open" });
  const found = await client.call("GET", `/v1/questions?${query}`, z.array(questionSchema));
  if (options.json === true) return printJson(found);
  const rows = found.map(({ id, asker, to, text, choices, ...question }) => [
    String(id),
    asker,
    to ?? "",
    question.state === "open" ? choices.join(" / ") : question.answer ?? question.state,
    oneLine(text),
  ]);
  print(table(["ID", "ASKER", "TO", "ANSWER", "QUESTION"], rows));
}

/** `muster question ask`: asks, and waits for the answer if told to. */
async function ask(words: readonly string[], options: AskOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const { choices, default: otherwise, deadline, to, ticket } = options;
  let question = await client.call("POST", "/v1/questions", questionSchema, {
    text: words.join(" "),
    choices: choices?.split(",").map((choice) => choice.trim()),
    default: otherwise,
    deadline: deadline !== undefined && /^\d+$/.test(deadline) ? Number(deadline) : deadline,
    to,
    ticket,
  });
  if (options.wait === true) question = await ended(client, question);
  show(question, options);
}

/** `muster question show`: one question, once it has ended if told to wait. */
async function showOne(id: string, options: CommandOptions & { wait?: boolean }): Promise<void> {
  const client = await ApiClient.connect(options);
  let question = await client.call("GET", pathOf(id), questionSchema);
  if (options.wait === true) question = await ended(client, question);
  if (options.json === true) return printJson(question);
  const { asker, to, text, choices, deadline, state, answer, answered_by: by } = question;
  const given = { to, choices: choices.join(" / "), deadline, answer, by };
  const fields = Object.entries({ question: oneLine(text), asker, state, ...given });
  printFields(fields.flatMap(([name, value]) => value ? [[name, value]] : []));
}

/** A question, once it has ended. */
async function ended(client: ApiClient, question: Question): Promise<Question> {
  let current = question;
  while (current.state === "open") {
    const path = `${pathOf(String(question.id))}?wait_seconds=20`;
    current = await client.call("GET", path, questionSchema);
  }
  return current;
}

function pathOf(id: string): string {
  return `/v1/questions/${encodeURIComponent(id)}`;
}

function show(question: Question, { json }: CommandOptions): void {
  if (json === true) return printJson(question);
  const { id, state, answer, answered_by: by } = question;
  if (state === "open") return print(`Question ${id} is open`);
  print(answer === null ? `Question ${id} is ${state}` : visible(answer));
  if (by === null && state === "expired") print(`Nobody answered until the deadline`);
}

function oneLine(text: string): string {
  return visible(text.replaceAll(/\s+/g, " "));
}

/** `muster question`: questions of agents to people. */
export const QUESTION: Group = {
  commands: [
    {
      name: "list",
      summary: "list questions, the newest first",
      options: [
        { flags: "--state <state>", summary: "open, closed or all (default: open)" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: list,
    },
    {
      name: "show",
      summary: "show a question",
      parameters: [{ usage: "<id>" }],
      options: [
        { flags: "--wait", summary: "wait until it has ended" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: showOne,
    },
    {
      name: "ask",
      summary: "ask a person",
      parameters: [{ usage: "<text...>" }],
      options: [
        { flags: "--choices <choices>", summary: "the possible answers, separated by commas" },
        { flags: "--default <answer>", summary: "the answer at the deadline" },
        { flags: "--deadline <time>", summary: "seconds from now, or an ISO 8601 time" },
        { flags: "--to <name>", summary: "the person or admin who is asked" },
        { flags: "--ticket <ticket>", summary: "the ticket that it is about, as project/id" },
        { flags: "--wait", summary: "wait for the answer, and print it" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: ask,
    },
  ],
  examples: [
    {
      line: "question ask 'Release it?' --choices yes,no --default no --deadline 3600 --wait",
      purpose: "Let a script ask, and wait for an hour",
    },
  ],
};
