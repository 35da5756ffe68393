import { randomBytes } from 'node:crypto'
import { escapeHtml } from '../../lib/text/escape-html.ts'
import { ownOrigin } from '../own-origin.ts'
import type { ConsoleFiles } from './console-files.ts'
import type { Context, Middleware } from './context.ts'
import type { Frame } from './frame.ts'
import { html, pageHeaders } from './page.ts'
import { signInPage } from './people-pages.ts'

/** The path of the web console. */
export const consolePath = '/console'

type Served = Pick<Frame, 'config' | 'console'>

/** Returns the routes of the web console: its page for every address without a file's ending, and its files. The pages that need no console come before. */
export function consoleRoutes({ config, console }: Served): Middleware {
  const base = basePath(config)
  const isOn = config.roles.has('control')
  return (ctx, next) => {
    const isHere =
      isOn && (ctx.method === 'GET' || ctx.method === 'HEAD') && (ctx.path === consolePath || ctx.path.startsWith(`${consolePath}/`))
    return isHere && answered(ctx, console, base) ? Promise.resolve() : next()
  }
}

/** Answers a request below the path of the console. Returns false: there is no such file. */
function answered(ctx: Context, console: Served['console'], base: string): boolean {
  const name = ctx.path.slice(consolePath.length + 1)
  const files = console.files()
  if (/\.[a-z0-9]+$/.test(name)) return sendFile(ctx, files, name)
  if (files === null) sendPage(ctx, signInPage(notBuilt(console.step())), pageHeaders())
  else sendConsole(ctx, files, base)
  return true
}

/** Returns the path under which people reach this installation, such as `/gateway` behind a proxy; empty for none. */
const basePath = (config: Frame['config']): string => new URL(ownOrigin(config)).pathname.replace(/\/$/, '')

const notBuilt = (step: string | null): string =>
  step === null
    ? 'The console is not built here. Build it by: npm run console:build'
    : `The console is on its way. ${step}. Reload this page in a moment.`

function sendConsole(ctx: Context, { page }: ConsoleFiles, base: string): void {
  const nonce = randomBytes(16).toString('base64')
  sendPage(ctx, page.replace('__BASE__', escapeHtml(base)).replace('__NONCE__', nonce), consoleHeaders(nonce))
}

/** Styles that the console's library makes while it runs have the nonce; its scripts come from this origin alone. */
const consoleHeaders = (nonce: string): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
})

function sendPage(ctx: Context, text: string, headers: Readonly<Record<string, string>>): void {
  ctx.set(headers)
  ctx.set('cache-control', 'no-store')
  ctx.status = 200
  ctx.type = html
  ctx.body = text
}

/** Names of files hold a hash of their contents, so that browsers keep them. Returns false: there is no such file. */
function sendFile(ctx: Context, files: ConsoleFiles | null, name: string): boolean {
  const file = files?.file(name, ctx.acceptsEncodings()) ?? null
  if (file === null) return false
  ctx.vary('accept-encoding')
  ctx.set({ 'content-type': file.type, 'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache' })
  if (file.encoding !== null) ctx.set('content-encoding', file.encoding)
  ctx.status = 200
  ctx.body = file.bytes
  return true
}
