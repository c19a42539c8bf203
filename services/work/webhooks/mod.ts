/**
 * Webhooks of projects: signed according to Standard Webhooks, sent from a log of deliveries that
 * survives restarts, and never to addresses inside the network. See README.md.
 */
export type { DeliveryView, IssuedWebhook, WebhookView } from "./schemas.ts";
export { WebhookSender } from "./sender.ts";
export { type SecretKey, secretOf } from "./records.ts";
export { Webhooks } from "./webhooks.ts";
export { type PostOutcome, SignedPosts } from "./signed_posts.ts";
