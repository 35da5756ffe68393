import type { Control, Tenant } from './setup.ts'

export interface ScimReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a resource of any kind
  readonly body: any
}

export interface ScimRequest {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An identity provider, with its token. */
export interface ScimClient {
  readonly token: string
  send(method: string, path: string, request?: ScimRequest): Promise<ScimReply>
}

/** A client with a token of its own for this organisation; `base` is the path that it was given. */
export async function scimClient(control: Control, tenant: Tenant, base = '/scim/v2'): Promise<ScimClient> {
  const { body } = await control.call(tenant.adminKey, 'POST', '/scim/tokens', { name: 'Identity provider' })
  return clientWith(control.origin, String(body['token']), base)
}

/** A client with this token. */
export const clientWith = (origin: string, token: string, base = '/scim/v2'): ScimClient => ({
  token,
  async send(method, path, { body, headers = {} } = {}) {
    const answer = await fetch(`${origin}${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json; charset=utf-8' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, body: text.startsWith('{') ? JSON.parse(text) : null }
  },
})

export const patchOf = (...operations: readonly unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
