/** `muster init`: writes a configuration, and makes the first admin, project and agent. */
import { InvalidValue, lazy, type Leaf } from "../command_line/mod.ts";
import { ANSWERS } from "./questions.ts";

function check(name: keyof typeof ANSWERS): (text: string) => string {
  return (text) => {
    const fault = ANSWERS[name].fault(text);
    if (fault === null) return text;
    throw new InvalidValue(fault);
  };
}

export const INIT: Leaf = {
  options: [
    { flags: "--yes", summary: "ask nothing: take the defaults where no option answers" },
    {
      flags: "--listen <address>",
      summary: "the address of this machine to listen on (default: 127.0.0.1)",
      parse: check("listen"),
    },
    {
      flags: "--tls-cert <file>",
      summary: "certificate for TLS, a PEM file (default: none)",
      completes: "file",
      parse: check("tlsCert"),
    },
    { flags: "--tls-key <file>", summary: "its key, a PEM file", completes: "file" },
    {
      flags: "--admin <name>",
      summary: "name of the first admin (default: admin)",
      parse: check("admin"),
    },
    {
      flags: "--project <slug>",
      summary: "slug of the first project (default: none)",
      parse: check("project"),
    },
    {
      flags: "--agent <nick>",
      summary: "nick of the first agent (default: none)",
      parse: check("agent"),
    },
    { flags: "--runner", summary: "run the checks of projects on this machine, too" },
  ],
  notes: [
    "It asks five questions, on a terminal or line by line on standard input; an empty line takes " +
    "the default, and so does the end of the input. It never overwrites a configuration. The " +
    "admin gets the role `admin` in the project, and the agent `write`. Passwords are shown only " +
    "once.",
  ],
  examples: [
    { line: "init", purpose: "Answer the questions" },
    {
      line: "init --yes --project demo --agent scout",
      purpose: "Ask nothing, and make a project with an agent",
    },
  ],
  run: lazy(async () => (await import("./init.ts")).init),
};
