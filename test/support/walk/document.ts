/** JSON Schema as the document writes it. */
export type Schema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

/** An operation of the control plane as the product's own description of its API has it. */
export interface Operation {
  readonly method: string
  /** `/configs/{slug}` */
  readonly path: string
  readonly name: string
  readonly query: readonly Parameter[]
  readonly body: Schema | null
  /** Any one of them is enough; none: it asks for no key. */
  readonly scopes: readonly string[]
}

export interface Description {
  readonly operations: readonly Operation[]
  /** The schema itself, or the one that it refers to. */
  readonly resolve: (schema: Schema) => Schema
}

interface Written {
  readonly tags: readonly string[]
  /** Operations that are not below `/v1`: those of people who sign in, which take no key. */
  readonly servers?: readonly unknown[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly 'x-permission': string | readonly string[]
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Every operation of the control plane that a document describes, below `/v1` or at the root: a new one is in here by itself. */
export function readDescription(json: string, place: 'below /v1' | 'at the root' = 'below /v1'): Description {
  const { paths, components } = JSON.parse(json) as Document
  return {
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, written]) =>
        written.tags.includes('gateway') || (written.servers !== undefined) !== (place === 'at the root')
          ? []
          : [toOperation(method, path, written)],
      ),
    ),
    resolve: ({ $ref: reference, ...own }) =>
      typeof reference === 'string' ? (components.schemas[reference.replace('#/components/schemas/', '')] ?? {}) : own,
  }
}

const toOperation = (method: string, path: string, written: Written): Operation => ({
  method: method.toUpperCase(),
  path,
  name: `${method.toUpperCase()} ${path}`,
  query: written.parameters.filter((parameter) => parameter.in === 'query'),
  body: written.requestBody?.content['application/json']?.schema ?? null,
  scopes: [written['x-permission']].flat().filter((scope) => scope !== ''),
})
