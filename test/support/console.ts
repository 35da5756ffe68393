import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import baseTest, { type ExecutionContext, type TestFn } from 'ava'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { openConsole } from '../../src/app/http/console-files.ts'
import { startApp, type TestApp, type TestAppOptions } from './app.ts'
import { eventually } from './eventually.ts'
import { startEmulator, type Emulator } from './emulator/emulator.ts'
import { addPerson, signIn, type PersonOptions } from './people.ts'
import { skipLoudly } from './helm.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The browsers of Debian and others, by their names in PATH. */
const programs = ['chromium', 'chromium-browser', 'google-chrome']
const findBrowser = (): string | null =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .flatMap((folder) => programs.map((name) => path.join(folder, name)))
    .find((file) => existsSync(file)) ?? null

const executablePath = findBrowser()
if (executablePath === null)
  skipLoudly('every test of the web console in a browser', 'this machine has no Chromium (apt-get install chromium)')

/** `test`, and a test that counts as skipped on machines without a browser. */
export const consoleTest: TestFn = executablePath === null ? Object.assign(baseTest.skip, baseTest) : baseTest

/** One browser and one product process for all tests of a file. */
export interface ConsoleBed {
  readonly app: TestApp
  readonly emulator: Emulator
  readonly browser: Browser
  /** Opens a window in which a person is signed in; null: nobody is. */
  open(person: PersonOptions | null, options?: WindowOptions): Promise<ConsoleWindow>
  stop(): Promise<void>
}

export interface WindowOptions {
  readonly path?: string
  readonly colorScheme?: 'light' | 'dark'
  readonly width?: number
}

export interface ConsoleWindow {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, breaks of the content policy, and requests to other origins. */
  readonly faults: readonly string[]
  /** The failed answers that the browser notes on its own. */
  readonly failedLoads: readonly string[]
}

/** Builds the console if its sources have changed, starts the product with it, and a browser. */
export async function startConsole({ env, ...options }: TestAppOptions = {}): Promise<ConsoleBed> {
  if (executablePath === null) throw new Error('there is no browser')
  execFileSync(process.execPath, [path.join(root, 'console/build.mjs')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const files = openConsole(path.join(root, 'assets/console'))
  const emulator = await startEmulator()
  const app = await startApp({
    ...options,
    env: { FAILED_CREDENTIALS_PER_MINUTE: '0', ...env },
    overrides: { ...options.overrides, console: { files: () => files, step: () => null } },
  })
  // Names of other hosts resolve to nowhere, so that no request can leave.
  const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']
  const browser = await chromium.launch({ executablePath, args })
  return {
    app,
    emulator,
    browser,
    open: (person, how) => openWindow({ app, browser }, person, how),
    async stop() {
      await browser.close()
      await app.stop()
      await emulator.stop()
    },
  }
}

async function openWindow(
  { app, browser }: Pick<ConsoleBed, 'app' | 'browser'>,
  person: PersonOptions | null,
  { path: place = '/console', colorScheme = 'light', width = 1280 }: WindowOptions = {},
): Promise<ConsoleWindow> {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce', locale: 'en-GB' })
  if (person !== null) {
    const { cookie } = await signIn(app, await addPerson(app, person))
    const at = cookie.indexOf('=')
    await context.addCookies([{ name: cookie.slice(0, at), value: cookie.slice(at + 1), url: app.baseUrl }])
  }
  const [faults, failedLoads]: [string[], string[]] = [[], []]
  // A busy machine takes long to draw a page; what a page may take is measured by other tests.
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(app.baseUrl)) faults.push(`a request to ${request.url()}`)
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    if (message.text().startsWith('Failed to load resource')) failedLoads.push(`${message.text()} ${message.location().url}`)
    else faults.push(message.text())
  })
  await page.goto(app.baseUrl + place)
  return { page, context, faults, failedLoads }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Asserts that a page breaks no rule of WCAG 2.2 AA that a machine can check. */
export async function assertAccessible(t: ExecutionContext, page: Page, what: string): Promise<void> {
  // Through the debugging protocol, which no content policy binds.
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    // @ts-expect-error -- axe is in the page
    const { violations } = await window.axe.run(document, { runOnly: { type: 'tag', values: tags } })
    return violations.flatMap((one: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
    )
  })
  t.deepEqual(found, [], what)
}

/** Returns all that a page and its browser keep of it: the document, the storage, the address. */
export const keptBy = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }, location.href])')

/** Resolves when a locator matches so many elements. */
export const untilCount = (locator: Locator, count: number): Promise<unknown> =>
  eventually(async () => (await locator.count()) === count, 20_000, `${count} elements`)
