import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

/** The node that has the project; only if there are several. */
export const node = definePart({
  words: "Node",
  isForServer: true,
  show,
  actions: {
    async move(visit, { slug }) {
      const name = visit.entered("node");
      await visit.services.hosting.moves.move(slug, name, visit.caller);
      return `The project is on the node ${name}`;
    },
  },
});

function show(visit: Visit, { access }: OpenProject) {
  const { nodes } = visit.services;
  const { home } = access.project;
  const others = nodes.all().filter(({ name, drainedAt }) =>
    name !== home && drainedAt === null && nodes.isRunning(name)
  );
  return (
    <>
      <h2>Node</h2>
      <p>
        The repository is on the node <code>{home}</code>. Every node answers for the project.
      </p>
      {others.length === 0
        ? <p>No other node runs that takes projects.</p>
        : (
          <form class="form" method="post">
            <input type="hidden" name="csrf" value={visit.session?.csrfToken ?? ""} />
            <div class="field">
              <label for="node">Move to</label>
              <select id="node" name="node">
                {others.map(({ name }) => <option value={name}>{name}</option>)}
              </select>
            </div>
            <button type="submit" name="action" value="move">Move</button>
            <p class="soft small">
              The project can be used meanwhile; writes wait for the moment of the change.
            </p>
          </form>
        )}
    </>
  );
}
