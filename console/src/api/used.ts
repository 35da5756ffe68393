/** The operations of the API that the console uses; `npm run docs:generate` writes their types. */
export const used = [
  'DELETE /auth/sessions',
  'DELETE /auth/sessions/{sessionId}',
  'GET /analytics/overview',
  'GET /auth/me',
  'GET /auth/sessions',
  'GET /limits',
  'GET /logs',
  'GET /logs/{logId}',
  'POST /auth/logout',
  'POST /auth/password',
] as const

export type Used = (typeof used)[number]
