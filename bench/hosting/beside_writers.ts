/** Reads of a project while somebody comments on its tickets, against the same reads alone. */
import { delay } from "../parallel.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { type Exchange, run } from "./exchange.ts";
import { isFile } from "../fossil/scenario.ts";
import { HostedProject } from "./project.ts";

const TICKETS = 2_000;
/** Comments per second. */
const RATE = 5;
/** The aim, as a multiple of the CPU time that a read takes alone. */
const AIM = 1.3;

const READ = { method: "GET", status: 200 } as const;

const EXCHANGES: readonly Exchange[] = [
  { ...READ, name: "tickets", holds: '"title":', path: () => "/api/tickets?per_page=50" },
  { ...READ, name: "commits", holds: '"uuid":', path: () => "/api/timeline?per_page=50" },
  { ...READ, name: "branches", holds: '"name":', path: () => "/api/branches" },
  { ...READ, name: "file", holds: "res.send", path: () => "/api/file?path=lib/response.js" },
];

export const BESIDE_WRITERS: Scenario = {
  name: "hosting-writers",
  anyIrcServer: false,
  describe: ({ seconds, repository }) =>
    `reads over 16 connections, alone and beside ${RATE} comments a second on ${TICKETS} tickets, ` +
    `${seconds} s each; ${repository}`,
  obstacle: ({ repository }) =>
    isFile(repository) ? null : `there is no ${repository}; --repository names one`,
  measure: async ({ seconds, repository }) => {
    await using project = await HostedProject.start({ path: repository, tickets: TICKETS });
    const figures: Figure[] = [];
    for (const exchange of EXCHANGES) {
      const options = { seconds, interval: 0, indexes: () => 0 };
      await run(project, exchange, { ...options, seconds: 2 });
      const alone = await run(project, exchange, options);
      const beside = await withComments(project, () => run(project, exchange, options));
      figures.push(
        { name: `${exchange.name}: alone`, value: alone.micros, unit: "µs" },
        {
          name: `${exchange.name}: beside, multiple`,
          value: beside.micros / alone.micros,
          unit: "×",
          aim: AIM,
        },
        { name: `${exchange.name}: alone, p99`, value: alone.p99, unit: "ms" },
        { name: `${exchange.name}: beside, p99`, value: beside.p99, unit: "ms" },
      );
    }
    return figures;
  },
};

/** Runs work while comments come; those in flight end before it returns. */
async function withComments<T>(project: HostedProject, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const comments = (async () => {
    for (let index = 0; !isOver; index++) {
      const ticket = project.tickets[index % project.tickets.length];
      const comment = { comment: `What I saw in round ${index}` };
      await Promise.all([
        project.ask("POST", `/api/tickets/${ticket}/comments`, comment),
        delay(1000 / RATE),
      ]);
    }
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await comments;
  }
}
