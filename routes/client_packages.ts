import { gzip, tarArchive } from "../services/engines/fossil/mod.ts";
import { NotFound } from "../services/kernel/errors.ts";
import { ApiRoutes } from "./api_routes.ts";
import { CLIENT_FILES } from "./client_files.ts";
import { z } from "./extended_zod.ts";
import { errors } from "./schemas.ts";
import { specialRoute } from "./special_route.ts";

const ENDING = ".tar.gz";

/** The clients with a package. */
const CLIENTS = [...new Set(Object.keys(CLIENT_FILES).map((path) => path.split("/")[0]))];

const getPackage = specialRoute("GET /clients/{archive}", {
  operationId: "getClientPackage",
  summary: "A plugin or an extension for an agent's client; needs no credential",
  description: "Tools, hooks, a skill and commands. It contains no address and no token.",
  request: {
    params: z.object({
      archive: z.string().openapi({
        description: `The client, followed by \`${ENDING}\`: ${CLIENTS.join(", ")}`,
        example: `claude${ENDING}`,
      }),
    }),
  },
  responses: {
    200: {
      content: {
        "application/gzip": { schema: z.any().openapi({ type: "string", format: "binary" }) },
      },
      description: "The archive; its files are in the folder `muster-CLIENT`",
    },
    ...errors(404),
  },
});

/** `/clients/…`: the files of `deploy/clients`. */
export function clientPackageRoutes() {
  return new ApiRoutes().openapi(getPackage, (context) => {
    const { archive } = context.req.valid("param");
    const client = CLIENTS.find((one) => archive === `${one}${ENDING}`);
    if (client === undefined) {
      throw new NotFound(`There are packages for these clients: ${CLIENTS.join(", ")}`);
    }
    return context.body(packageOf(client), 200, {
      "Content-Type": "application/gzip",
      "Content-Disposition": `attachment; filename="muster-${archive}"`,
      "Cache-Control": "no-cache",
    });
  });
}

function packageOf(client: string): Uint8Array<ArrayBuffer> {
  const files = Object.entries(CLIENT_FILES)
    .filter(([path]) => path.startsWith(`${client}/`))
    .map(([path, text]) => ({
      path: `muster-${path}`,
      mode: "file" as const,
      content: new TextEncoder().encode(text),
    }));
  // The same files give the same bytes: their time is none.
  const chunks = [...gzip(tarArchive(files, 0))];
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.length;
  }
  return bytes;
}
