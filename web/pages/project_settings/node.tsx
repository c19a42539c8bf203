import { moveProject } from "../../../services/cluster/moves/operations.ts";
import { Form, Select } from "../../parts/form.tsx";
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
      await visit.invokeOnServer(moveProject, { slug, node: name });
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
          <Form visit={visit} action="move">
            <Select
              visit={visit}
              name="node"
              label="Move to"
              hint="The project can be used meanwhile; writes wait for the moment of the change."
              options={others.map(({ name }) => [name, name] as const)}
            />
            <button type="submit">Move</button>
          </Form>
        )}
    </>
  );
}
