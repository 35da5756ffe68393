import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { AwsV4Signer } from 'aws4fetch'

/** A request, as an object server saw it. */
export interface ObjectCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server that keeps objects in memory, refuses requests without the signatures of S3 or Azure, and fails by its script. */
export interface ObjectServer {
  readonly url: string
  readonly objects: ReadonlyMap<string, Buffer>
  readonly calls: readonly ObjectCall[]
  /** Answers in place of the server while it returns true. */
  misbehave(act: ((call: ObjectCall, response: ServerResponse) => boolean) | null): void
  stop(): Promise<void>
}

export const s3Keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret of S3' }
export const azureAccount = { account: 'gatehouse', key: Buffer.from('a key of Azure storage').toString('base64') }

/** Starts a server that speaks S3, the blobs of Azure, or the JSON API of Google, which takes any token of the metadata server. */
export async function startObjectServer(speaks: 's3' | 'azure' | 'google', region = 'eu-central-1'): Promise<ObjectServer> {
  const objects = new Map<string, Buffer>()
  const calls: ObjectCall[] = []
  let fault: ((call: ObjectCall, response: ServerResponse) => boolean) | null = null
  const isSigned = { s3: (call: ObjectCall) => isSignedForS3(call, region), azure: isSignedForAzure, google: hasGoogleToken }[speaks]

  const put = (call: ObjectCall, response: ServerResponse) => {
    if (call.headers['content-md5'] !== hash('md5', call.body, 'base64')) end(response, 400, '<Error><Code>BadDigest</Code></Error>')
    else if (speaks === 'azure' && call.headers['x-ms-blob-type'] !== 'BlockBlob') end(response, 400)
    else {
      objects.set(call.path, call.body)
      end(response, speaks === 's3' ? 200 : 201)
    }
  }
  const upload = (call: ObjectCall, response: ServerResponse) => {
    const { bucket, said, object } = readUpload(call)
    if (said.md5Hash !== hash('md5', object, 'base64')) end(response, 400, '{"error":{"errors":[{"reason":"invalid"}]}}')
    else {
      objects.set(`/${bucket}/${said.name}`, object)
      end(response, 200, '{}')
    }
  }
  const answer = async (call: ObjectCall, response: ServerResponse) => {
    if (fault?.(call, response) === true) return
    const found = objects.get(speaks === 'google' ? googlePath(call.path) : call.path)
    if (!(await isSigned(call))) end(response, 403, '<Error><Code>SignatureDoesNotMatch</Code><Secret>x</Secret></Error>')
    else if (call.method === 'PUT') put(call, response)
    else if (call.method === 'POST') upload(call, response)
    else if (found === undefined) end(response, 404, '<Error><Code>NoSuchKey</Code></Error>')
    else end(response, 200, found)
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
      calls.push(call)
      void answer(call, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    calls,
    misbehave: (act) => (fault = act),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const end = (response: ServerResponse, status: number, body: string | Buffer = '') => {
  response.writeHead(status, { 'content-type': typeof body === 'string' ? 'application/xml' : 'application/json' }).end(body)
}

/** Signs the same request again with another implementation. */
async function isSignedForS3({ method, path, headers, body }: ObjectCall, region: string): Promise<boolean> {
  const proof = headers.authorization ?? ''
  const names = /SignedHeaders=([^,]+)/.exec(proof)?.[1]?.split(';') ?? []
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.includes(name))) return false
  if (headers['x-amz-content-sha256'] !== hash('sha256', body)) return false
  const covered = names.filter((name) => name !== 'host').map((name) => [name, String(headers[name])] as const)
  const again = await new AwsV4Signer({
    ...s3Keys,
    method,
    url: `http://${headers.host ?? ''}${path}`,
    headers: Object.fromEntries(covered),
    ...(body.length > 0 && { body }),
    service: 's3',
    region,
    datetime: String(headers['x-amz-date']),
    allHeaders: true,
  }).sign()
  return again.headers.get('authorization')?.split('Signature=')[1] === proof.split('Signature=')[1]
}

/** The string that Azure documents for Shared Key since 2015, written out for the two requests that there are. */
function isSignedForAzure({ method, path, headers, body }: ObjectCall): boolean {
  const head = (name: string) => String(headers[name] ?? '')
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .toSorted()
    .map((name) => `${name}:${head(name)}`)
  const length = body.length === 0 ? '' : String(body.length)
  const text = [
    method,
    '',
    '',
    length,
    head('content-md5'),
    head('content-type'),
    '',
    '',
    '',
    '',
    '',
    '',
    ...own,
    `/${azureAccount.account}${path}`,
  ]
  const expected = createHmac('sha256', Buffer.from(azureAccount.key, 'base64')).update(text.join('\n')).digest('base64')
  const proof = Buffer.from(head('authorization'))
  const right = Buffer.from(`SharedKey ${azureAccount.account}:${expected}`)
  return proof.length === right.length && timingSafeEqual(proof, right)
}

const hasGoogleToken = ({ headers }: ObjectCall): boolean => /^Bearer google-\d+$/.test(headers.authorization ?? '')

/** cloud.google.com/storage/docs/json_api: `/storage/v1/b/BUCKET/o/OBJECT?alt=media` */
const googlePath = (path: string): string => {
  const [, bucket = '', name = ''] = /^\/storage\/v1\/b\/([^/]+)\/o\/([^/?]+)\?alt=media$/.exec(path) ?? []
  return `/${decodeURIComponent(bucket)}/${decodeURIComponent(name)}`
}

/** cloud.google.com/storage/docs/uploading-objects: the metadata of an object, and the object, in two parts. */
function readUpload({ path, headers, body }: ObjectCall) {
  const [, bucket = ''] = /^\/upload\/storage\/v1\/b\/([^/]+)\/o\?uploadType=multipart$/.exec(path) ?? []
  const [, boundary = ''] = /^multipart\/related; boundary=(\S+)$/.exec(headers['content-type'] ?? '') ?? []
  const [, said = '', object = ''] = body.toString('latin1').split(`--${boundary}`)
  return {
    bucket: decodeURIComponent(bucket),
    said: JSON.parse(contentOf(said).toString()) as { readonly name: string; readonly md5Hash: string },
    object: contentOf(object),
  }
}

const contentOf = (part: string) => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1')
