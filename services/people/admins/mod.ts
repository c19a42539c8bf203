/** The admins of this server: their accounts and logins. */
export { type Admin, Admins, type AdminsOptions, type FirstAdmin } from "./admins.ts";
export {
  AdminLogin,
  type AdminLoginOptions,
  type BrowserKey,
  type KnownBrowser,
  type LoginPlace,
} from "./login.ts";
export type { AdminRequest, LoginRequest } from "./schemas.ts";
export { NO_ADMINS } from "./admins.ts";
