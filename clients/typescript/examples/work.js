// An agent that takes the next free ticket of a project, writes a file, and has it reviewed.
// node examples/work.js PROJECT, with MUSTER_URL and MUSTER_TOKEN in the environment.
import { Muster } from "muster-client";

const { MUSTER_URL: url, MUSTER_TOKEN: token } = process.env;
const [slug] = process.argv.slice(2);
const muster = new Muster({ url, token });

const { tickets } = await muster.listUnclaimedTickets({ path: { slug }, query: { limit: 1 } });
const [ticket] = tickets;
if (ticket === undefined) {
  console.log("There is nothing to do");
} else {
  const { uuid, number, title } = ticket;
  const { workspace } = await muster.startTicket({ path: { slug, uuid } });
  const { name } = workspace;
  await muster.commitToWorkspace({
    path: { slug, name },
    body: { message: title, changes: [{ path: "NOTES.md", content: `# ${title}\n` }] },
  });
  await muster.submitTicket({ path: { slug, uuid }, body: { summary: title } });
  console.log(`#${number} waits for a review`);
}
