import type { NodeReport } from "../../../services/cluster/nodes/mod.ts";
import {
  drainNode,
  listNodes,
  removeNode,
  resumeNode,
} from "../../../services/cluster/nodes/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ButtonForm } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** The servers that share the database. */
export const page = definePage({
  opens: "admin",
  show,
  json: () => "/v1/nodes",
  actions: { drain, resume, remove },
});

async function show(visit: Visit): Promise<View> {
  const nodes = await visit.invokeOnServer(listNodes, {});
  const body = (
    <SettingsFrame part="nodes">
      {nodes.length === 0
        ? (
          <Empty>
            This server is alone. To run several, give each a name: node.name in config.yaml.
          </Empty>
        )
        : <NodeTable visit={visit} nodes={nodes} />}
    </SettingsFrame>
  );
  return { title: "Nodes", body };
}

function NodeTable({ visit, nodes }: {
  readonly visit: Visit;
  readonly nodes: readonly NodeReport[];
}) {
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Table of nodes">
      <table class="stacks">
        <thead>
          <tr>
            <th>Node</th>
            <th>State</th>
            <th>Projects</th>
            <th>Version</th>
            <th>Started</th>
            <th>Address</th>
            <th>
              <span class="hidden-text">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr>
              <td>
                {node.name} {node.leader && <span class="badge accent">leads</span>}
                {node.self && <span class="badge">answers you</span>}
              </td>
              <td data-label="State">{stateOf(node)}</td>
              <td data-label="Projects">{node.projects}</td>
              <td data-label="Version">{node.version}</td>
              <td data-label="Started" class="nowrap">
                <Time at={node.started_at} />
              </td>
              <td data-label="Address" class="mono">{node.url}</td>
              <td>
                <Changes visit={visit} node={node} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function stateOf({ state, drained_at }: NodeReport): string {
  return state === "stopped" && drained_at !== null ? "stopped, drained" : state;
}

function Changes({ visit, node }: { readonly visit: Visit; readonly node: NodeReport }) {
  const values = { name: node.name };
  return (
    <>
      {node.drained_at === null
        ? <ButtonForm visit={visit} action="drain" values={values} label="Drain" />
        : <ButtonForm visit={visit} action="resume" values={values} label="Resume" />}
      {node.state === "stopped" && (
        <ButtonForm visit={visit} action="remove" values={values} label="Remove" />
      )}
    </>
  );
}

async function drain(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  await visit.invokeOnServer(drainNode, { name });
  return leads(
    `${name} leads no more and gets no new projects. Its readers leave within a minute.`,
  );
}

async function resume(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  await visit.invokeOnServer(resumeNode, { name });
  return leads(`${name} takes work again.`);
}

async function remove(visit: Visit): Promise<Leads> {
  const name = visit.entered("name");
  await visit.invokeOnServer(removeNode, { name });
  return leads(`${name} is removed.`);
}

function leads(notice: string): Leads {
  return { to: "/settings/nodes", notice };
}
