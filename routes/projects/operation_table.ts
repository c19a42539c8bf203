/** Written by `deno task reference` from the operations of services/; do not change it. */

/** The rows of operations in the table of routes. */
export const OPERATION_ROUTES = {
  "GET /api/claims": ["operations", "read"],
  "GET /api/releases": ["operations", "read"],
  "POST /api/releases": ["operations", "write"],
  "DELETE /api/releases/{tag}": ["operations", "write"],
  "GET /api/releases/{tag}": ["operations", "read"],
  "PATCH /api/releases/{tag}": ["operations", "write"],
  "DELETE /api/releases/{tag}/assets/{file}": ["operations", "write"],
  "GET /api/tickets": ["operations", "read"],
  "POST /api/tickets": ["operations", "write"],
  "GET /api/tickets/fields": ["operations", "read"],
  "POST /api/tickets/fields": ["operations", "admin", "no passphrase"],
  "DELETE /api/tickets/fields/{name}": ["operations", "admin", "no passphrase"],
  "GET /api/tickets/struck": ["operations", "read"],
  "GET /api/tickets/unclaimed": ["operations", "read"],
  "GET /api/tickets/{uuid}": ["operations", "read"],
  "PATCH /api/tickets/{uuid}": ["operations", "write"],
  "GET /api/tickets/{uuid}/changes": ["operations", "read"],
  "POST /api/tickets/{uuid}/claim": ["operations", "write"],
  "POST /api/tickets/{uuid}/comments": ["operations", "write"],
  "POST /api/tickets/{uuid}/release": ["operations", "write"],
  "DELETE /api/tickets/{uuid}/strikes": ["operations", "write", "no passphrase"],
  "POST /api/tickets/{uuid}/submit": ["operations", "write"],
  "GET /api/uploads": ["operations", "write"],
  "GET /api/wiki": ["operations", "read"],
  "GET /api/wiki-diff": ["operations", "read"],
  "GET /api/wiki-history": ["operations", "read"],
  "DELETE /api/wiki/{name}": ["operations", "write"],
  "GET /api/wiki/{name}": ["operations", "read"],
  "PUT /api/wiki/{name}": ["operations", "write"],
  "GET /api/workspaces": ["operations", "read"],
  "POST /api/workspaces/create": ["operations", "write"],
  "GET /api/workspaces/{name}": ["operations", "read"],
  "DELETE /api/workspaces/{name}/abandon": ["operations", "write"],
  "POST /api/workspaces/{name}/commit": ["operations", "write"],
  "POST /api/workspaces/{name}/merge": ["operations", "write"],
  "GET /api/workspaces/{name}/overlap": ["operations", "read"],
  "POST /api/workspaces/{name}/restore": ["operations", "write"],
  "POST /api/workspaces/{name}/takeover": ["operations", "write"],
  "POST /api/workspaces/{name}/update": ["operations", "write"],
} as const;

/** Operations that are answered while the disk is nearly full. */
export const OPERATIONS_WHILE_FULL = [
  "POST /api/tickets/{uuid}/release",
] as const;
