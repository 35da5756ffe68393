import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { eventually } from './eventually.ts'

/** A mail as the server took it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, as sent. */
  readonly raw: string
  /** The part of this type, decoded. */
  readonly part: (type: 'text/plain' | 'text/html') => string
  readonly header: (name: string) => string
}

export interface MailServer {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** The number of tries to send. */
  attempts(): number
  /** Refuses everything from now on, or no longer. */
  refuse(refusing: boolean): void
  /** Leaves those who begin to send without an answer from now on, or no longer: then it answers those who still wait, too. */
  hold(holding: boolean): void
  /** Resolves with the first mail to this address. */
  mailTo(address: string): Promise<ReceivedMail>
  stop(): Promise<void>
}

/** A real SMTP server on loopback that wants this login. */
export async function startMailServer(login: { readonly user: string; readonly password: string }): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let [refusing, holding, attempts] = [false, false, 0]
  const held: (() => void)[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      username === login.user && password === login.password ? done(null, { user: username }) : done(new Error('wrong login')),
    onMailFrom(_, __, done) {
      attempts += 1
      const answer = () => done(refusing ? Object.assign(new Error('not now'), { responseCode: 451 }) : null)
      if (holding) held.push(answer)
      else answer()
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        received.push(toMail(Buffer.concat(chunks).toString(), { from, to: envelope.rcptTo.map(({ address }) => address) }))
        done()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    attempts: () => attempts,
    refuse: (from) => void (refusing = from),
    hold(from) {
      holding = from
      if (!holding) for (const answer of held.splice(0)) answer()
    },
    async mailTo(address) {
      const found = () => received.find(({ to }) => to.includes(address))
      await eventually(() => found() !== undefined, 5000, `a mail to ${address}`)
      return found() as ReceivedMail
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function toMail(raw: string, envelope: Pick<ReceivedMail, 'from' | 'to'>): ReceivedMail {
  const header = (name: string, within = raw) =>
    new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t].*)*)`, 'im')
      .exec(within.split(/\r?\n\r?\n/, 1)[0] ?? '')?.[1]
      ?.replaceAll(/\r?\n\s+/g, ' ') ?? ''
  return {
    ...envelope,
    raw,
    header: (name) => decodeWords(header(name)),
    part(type) {
      const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
      const part = raw.split(`--${boundary}`).find((candidate) => header('Content-Type', candidate.trimStart()).startsWith(type)) ?? ''
      const [head = '', ...body] = part.trimStart().split(/\r?\n\r?\n/)
      return decode(body.join('\n\n'), header('Content-Transfer-Encoding', head))
    },
  }
}

/** RFC 2047: `=?UTF-8?Q?...?=`, with only spaces between two of them. */
const decodeWords = (value: string) =>
  value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/gi, (_, word: string) => decode(word.replaceAll('_', ' '), 'quoted-printable'))

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body
  const bytes = body
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
