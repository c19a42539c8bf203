import { NO_CHANNELS } from "../services/chat/bridge/mod.ts";
import { NO_POLICIES } from "../services/chat/policies/mod.ts";
import { NO_ADMINS } from "../services/people/admins/mod.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { bodyLimitsOf, BodyReader } from "../http/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import { SERVER_OPERATIONS } from "../services/operation/daemon/server_operations.ts";
import type { AppEnv } from "./environment.ts";
import type { EventStreams } from "./event_streams.ts";
import { lazyGroup, operationGroup, type RouteGroup, switchedOff } from "./group.ts";
import type { LoadRoom } from "./operation_requests.ts";
import { once } from "./once.ts";
import type { AnyServerOperation } from "./operations.ts";
import type { Group } from "./table.ts";

const EVERY_METHOD = ["ALL"];

const WITHOUT_ADMINS = switchedOff(
  EVERY_METHOD,
  ["/v1/admins/*"],
  NO_ADMINS,
);

const WITHOUT_CHANNELS = switchedOff(
  EVERY_METHOD,
  ["/v1/channels/*"],
  NO_CHANNELS,
);

const WITHOUT_POLICIES = switchedOff(
  ["GET", "PUT"],
  ["/v1/settings", "/v1/settings/*"],
  NO_POLICIES,
);

/**
 * The groups of the table, each with the import of its module.
 *
 * @param rooms those with operations
 * @param whole the API with every route, for its document
 */
export function createGroups(
  services: Services,
  { streams, rooms }: {
    readonly streams: EventStreams;
    readonly rooms: ReadonlyMap<string, LoadRoom>;
  },
  whole: () => Promise<OpenAPIHono<AppEnv>>,
): Record<Group, RouteGroup> {
  const { config, metrics, status, eventLog, herald } = services;
  return {
    health: lazyGroup("health", async () => {
      return (await import("./health.ts")).healthRoutes(status);
    }),
    guide: lazyGroup("guide", async () => (await import("./guide.ts")).guideRoutes(config)),
    checkSchema: lazyGroup("checkSchema", async () => {
      return (await import("./check_schema.ts")).checkSchemaRoutes();
    }),
    clientPackages: lazyGroup("clientPackages", async () => {
      return (await import("./client_packages.ts")).clientPackageRoutes();
    }),
    oauth: lazyGroup("oauth", async () => {
      return (await import("./oauth.ts")).oauthRoutes(services, bodyLimitsOf(config));
    }),
    metrics: lazyGroup("metrics", async () => {
      return (await import("./health.ts")).metricRoutes(metrics);
    }),
    ...operationGroups(services, rooms),
    ...modelGroups(services),
    login: loginGroup(services),
    channelStream: channelStreamGroup(services, streams),
    heraldWebhooks: lazyGroup("heraldWebhooks", async () => {
      return (await import("./v1/herald_webhooks.ts")).heraldWebhookRoutes(
        herald,
        bodyLimitsOf(config),
      );
    }),
    events: lazyGroup("events", async () => {
      return (await import("./v1/events.ts")).eventRoutes({ eventLog, streams });
    }),
    runnerFiles: lazyGroup("runnerFiles", async () => {
      return (await import("./v1/runner_files.ts")).runnerFileRoutes(services);
    }),
    ...projectGroups(services),
    openapi: lazyGroup("openapi", async () => (await import("./openapi.ts")).openApiRoutes(whole)),
  };
}

/** The rooms with operations on the server, without those that the configuration switches off. */
export function operationRooms(services: Services): ReadonlyMap<string, LoadRoom> {
  const off = switchedOffRooms(services);
  const rooms = Object.entries(SERVER_OPERATIONS) as [Room, LoadOperations][];
  return new Map(
    rooms.filter(([room]) => off[room] === undefined).map(([room, load]) => [
      room,
      once(async () => {
        const { serverRoutes } = await import("./operations.ts");
        return serverRoutes(await load());
      }),
    ]),
  );
}

type Room = keyof typeof SERVER_OPERATIONS;

type LoadOperations = () => Promise<Readonly<Record<string, AnyServerOperation>>>;

function switchedOffRooms(services: Services): Partial<Record<Room, RouteGroup>> {
  return {
    ...services.admins === null ? { admins: WITHOUT_ADMINS } : {},
    ...services.bridge === null ? { channels: WITHOUT_CHANNELS } : {},
    ...services.policies === null ? { policies: WITHOUT_POLICIES } : {},
  };
}

function operationGroups(
  services: Services,
  rooms: ReadonlyMap<string, LoadRoom>,
): Record<Room, RouteGroup> {
  const groups = Array.from(rooms, ([room, load]) => [room, operationGroup(load)]);
  return { ...Object.fromEntries(groups), ...switchedOffRooms(services) };
}

function modelGroups(services: Services) {
  const { llm, accounting, identity } = services;
  const completions = once(async () => {
    const { Completions } = await import("./v1/completions.ts");
    return new Completions({ gateway: llm.gateway, identity });
  });
  return {
    completions: lazyGroup("completions", async () => {
      return (await import("./v1/llm_complete.ts")).completionRoutes(await completions());
    }),
    anthropic: lazyGroup("anthropic", async () => {
      return (await import("./v1/llm_anthropic.ts")).anthropicRoutes(llm, await completions());
    }),
    openai: lazyGroup("openai", async () => {
      return (await import("./v1/llm_openai.ts")).openAiRoutes(llm, await completions());
    }),
    otlp: lazyGroup("otlp", async () => {
      return (await import("./v1/llm_otlp.ts")).otlpRoutes(accounting.ledger);
    }),
  };
}

/** The login of admins. */
function loginGroup(services: Services): RouteGroup {
  const { adminLogin, config } = services;
  if (adminLogin === null) {
    return switchedOff(
      EVERY_METHOD,
      ["/login", "/logout", "/session"],
      "Nobody can log in: admins.enabled is false in the configuration",
    );
  }
  return lazyGroup("login", async () => {
    const { loginRoutes } = await import("./login.ts");
    return loginRoutes({ ...services, adminLogin, bodies: new BodyReader(bodyLimitsOf(config)) });
  });
}

/** The event streams of channels. */
function channelStreamGroup({ bridge }: Services, streams: EventStreams): RouteGroup {
  if (bridge === null) return WITHOUT_CHANNELS;
  return lazyGroup("channelStream", async () => {
    return (await import("./v1/channel_stream.ts")).channelStreamRoutes(bridge, streams);
  });
}

/** Projects, for the operator and the admins, and their list, for everybody. */
function projectGroups(services: Services) {
  return {
    repositories: lazyGroup("repositories", async () => {
      return (await import("./v1/project_repository.ts")).repositoryRoutes(services);
    }),
    projectList: lazyGroup("projectList", async () => {
      return (await import("./projects/list.ts")).projectListRoutes(services);
    }),
    git: lazyGroup("git", async () => (await import("./git/mod.ts")).gitRoutes(services)),
    actionArtifacts: lazyGroup("actionArtifacts", async () => {
      return (await import("./actions/artifacts.ts")).artifactRoutes(services);
    }),
    actions: lazyGroup("actions", async () => {
      return (await import("./actions/mod.ts")).actionRoutes(services);
    }),
    lfs: lazyGroup("lfs", async () => (await import("./git/lfs.ts")).lfsRoutes(services)),
    search: lazyGroup("search", async () => {
      return (await import("./projects/search_everywhere.ts")).searchEverywhereRoutes(services);
    }),
  };
}
