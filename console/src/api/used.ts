/** The operations of the API that the console uses; `npm run docs:generate` writes their types. */
export const used = [
  'DELETE /api-keys/{id}',
  'DELETE /auth/sessions',
  'DELETE /auth/sessions/{sessionId}',
  'GET /analytics/overview',
  'GET /api-keys',
  'GET /auth/me',
  'GET /auth/sessions',
  'GET /catalogue/providers',
  'GET /catalogue/scopes',
  'GET /integrations',
  'GET /limits',
  'GET /logs',
  'GET /logs/{logId}',
  'GET /providers',
  'POST /api-keys/{id}/rotate',
  'POST /api-keys/{type}/{subType}',
  'POST /auth/logout',
  'POST /auth/password',
  'POST /integrations',
  'POST /integrations/test',
  'POST /integrations/{slug}/test',
] as const

export type Used = (typeof used)[number]
