import { z } from 'zod';

/** Body of `GET /health` and `GET /readiness`; `checks` names each part and its state. */
export const HealthBody = z.object({
  status: z.enum(['healthy', 'ready', 'not ready']),
  version: z.string(),
  time: z.iso.datetime(),
  checks: z.record(z.string(), z.string()),
});
export type HealthBody = z.infer<typeof HealthBody>;
