// Runs coding agents on models of other vendors, each through one task of several turns with tools: Claude Code on an OpenAI model, Codex on a
// Claude model, Gemini CLI on both. The agents are installed below node_modules/.cache/clients, at the versions that are named here; a model
// is an emulator as strict as its provider. The last line is `N passed, N failed`; SKIPPED, loudly, where an agent cannot be had.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { messagesProvider } from '../test/conformance/sides/anthropic.ts'
import { chatProvider } from '../test/conformance/sides/openai-chat.ts'
import type { Say } from '../test/conformance/talk.ts'
import { json } from '../test/support/dialects/strict.ts'
import type { Emulator, Received } from '../test/support/emulator/emulator.ts'
import { startEmulator } from '../test/support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../test/support/gateway.ts'

const root = path.resolve(import.meta.dirname, '..')
const cache = path.join(root, 'node_modules', '.cache', 'clients')

const models = {
  gpt: { provider: 'openai', model: 'gpt-4o', side: chatProvider },
  claude: { provider: 'anthropic', model: 'claude-sonnet-4-5', side: messagesProvider },
} as const
type ModelId = keyof typeof models

/** The arguments of an agent. */
interface Call {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

interface Agent {
  readonly title: string
  readonly package: string
  readonly version: string
  readonly bin: string
  /** True if it asks for responses over a WebSocket, and for none over HTTP. */
  readonly connects?: true
  /** The tool by which it runs a command, and its arguments. */
  readonly shell: Readonly<Record<string, (command: string) => Readonly<Record<string, unknown>>>>
  readonly call: (task: string, model: ModelId, origin: string) => Call
}

const bash = (command: string) => ({ command, description: 'Runs a command' })

const agents = {
  claude: {
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.330',
    bin: 'claude',
    shell: { Bash: bash },
    call: (task, model, origin) => ({
      arguments: ['-p', task, '--allowedTools', 'Bash', '--output-format', 'text'],
      environment: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_AUTH_TOKEN: workspaceKey,
        ANTHROPIC_CUSTOM_HEADERS: `x-service-provider: @${model}`,
        ANTHROPIC_MODEL: models[model].model,
        ANTHROPIC_SMALL_FAST_MODEL: models[model].model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }),
  },
  codex: {
    title: 'Codex',
    package: '@openai/codex',
    version: '0.169.0',
    bin: 'codex',
    connects: true,
    shell: {
      exec_command: (cmd) => ({ cmd }),
      shell_command: (command) => ({ command }),
      shell: (command) => ({ command: ['bash', '-c', command] }),
    },
    call: (task, model, origin) => ({
      arguments: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '-m',
        models[model].model,
        '-c',
        'model_provider="gatehouse"',
        '-c',
        `model_providers.gatehouse={name="Gatehouse",base_url="${origin}/v1",env_key="GATEHOUSE_KEY",wire_api="responses",supports_websockets=true,http_headers={"x-service-provider"="@${model}"}}`,
        task,
      ],
      environment: { GATEHOUSE_KEY: workspaceKey },
    }),
  },
  gemini: {
    title: 'Gemini CLI',
    package: '@google/gemini-cli',
    version: '0.61.0',
    bin: 'gemini',
    shell: { run_shell_command: bash },
    call: (task, model, origin) => ({
      arguments: ['-p', task, '--yolo', '-m', `@${model}/${models[model].model}`],
      environment: {
        GEMINI_API_KEY: workspaceKey,
        GOOGLE_GEMINI_BASE_URL: origin,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GEMINI_TELEMETRY_ENABLED: 'false',
      },
    }),
  },
} as const satisfies Readonly<Record<string, Agent>>

const runs: readonly (readonly [agent: keyof typeof agents, model: ModelId])[] = [
  ['claude', 'gpt'],
  ['codex', 'claude'],
  ['gemini', 'gpt'],
  ['gemini', 'claude'],
]

const counts = { input: 20, cached: 0, output: 7, thought: 0 }
const task = 'Write the word gatehouse to the file word.txt, read the file, and tell me what it says.'
const commands = ['echo gatehouse > word.txt', 'cat word.txt && echo read > read.txt']
const word = 'The file says gatehouse.'

/** Lets a model do the task: a command, another one, and a sentence. A request without tools (a title, a summary) is answered with a word. */
function script(emulator: Emulator, { shell }: Agent, model: ModelId): { readonly faults: string[] } {
  const { side } = models[model]
  const faults: string[] = []
  emulator.script({
    behaviour: (received) => {
      const refusal = side.refusal(received)
      if (refusal !== null) {
        faults.push(refusal)
        return json(side.error(400, `strict: ${refusal}`), 400)
      }
      const say = nextSay(side.heard(received), shell)
      return side.isStream(received) ? side.stream(say, received) : side.whole(say, received)
    },
  })
  return { faults }
}

function nextSay(heard: readonly string[], shell: Agent['shell']): Say {
  const tool = Object.keys(shell).find((name) => heard.some((line) => line.startsWith(`tool ${name} `)))
  if (tool === undefined) return { text: 'Word', stop: 'stop', counts }
  const done = heard.filter((line) => line.startsWith(`result ${tool} `)).length
  const command = commands[done]
  if (command === undefined) return { text: word, stop: 'stop', counts }
  return {
    text: 'I look.',
    calls: [{ id: `call_${done + 1}`, name: tool, args: shell[tool]?.(command) ?? {} }],
    stop: 'tool-calls',
    counts,
  }
}

/** Installs an agent, and returns its program; null: it cannot be had here. */
async function install({ package: name, version, bin }: Agent): Promise<string | null> {
  const home = path.join(cache, `${bin}-${version}`)
  const program = path.join(home, 'node_modules', '.bin', bin)
  if (existsSync(program)) return program
  mkdirSync(home, { recursive: true })
  const { code } = await run('npm', ['install', '--prefix', home, '--no-audit', '--no-fund', `${name}@${version}`], {
    cwd: home,
    environment: {},
    seconds: 300,
  })
  return code === 0 && existsSync(program) ? program : null
}

interface Ran {
  readonly code: number | null
  readonly said: string
}

async function run(
  program: string,
  given: readonly string[],
  { cwd, environment, seconds }: { readonly cwd: string; readonly environment: Readonly<Record<string, string>>; readonly seconds: number },
): Promise<Ran> {
  const signal = AbortSignal.timeout(seconds * 1000)
  const child = spawn(program, given, { cwd, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'], signal })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => said.push(bytes.toString()))
  try {
    await once(child, 'close')
  } catch (error) {
    said.push(String(error))
  }
  return { code: child.exitCode, said: said.join('') }
}

/** Why a run failed; null: it did not. */
async function runAgent(
  agent: Agent,
  model: ModelId,
  program: string,
  { bed, emulator }: { readonly bed: GatewayBed; readonly emulator: Emulator },
): Promise<string | null> {
  const home = mkdtempSync(path.join(tmpdir(), 'gatehouse-agent-'))
  mkdirSync(path.join(home, '.gemini'))
  writeFileSync(path.join(home, '.gemini', 'settings.json'), '{"security":{"auth":{"selectedType":"gemini-api-key"}}}')
  const { faults } = script(emulator, agent, model)
  const { arguments: given, environment } = agent.call(task, model, bed.origin)
  const ran = await run(program, given, { cwd: home, environment: { ...environment, HOME: home, CODEX_HOME: home }, seconds: 120 })
  const read = (file: string) => (existsSync(path.join(home, file)) ? readFileSync(path.join(home, file), 'utf8').trim() : null)
  const files = [read('word.txt'), read('read.txt')].join(' ')
  const asked = emulator.requests.map(({ url, body }: Received) => `${url} ${body.length} bytes`)
  emulator.reset()
  const connections = bed.logged.filter(({ record }) => record.operation === 'connectResponses' && record.status === 101).length
  rmSync(home, { recursive: true, force: true })
  if (faults.length > 0) return `the provider refused: ${faults.join('; ')}`
  if (files !== 'gatehouse read' || !ran.said.includes(word) || ran.code !== 0)
    return `ended with ${ran.code}, files "${files}", asked ${JSON.stringify(asked)}, said:\n${ran.said.slice(-3000)}`
  if (agent.connects === true && connections === 0) return 'it opened no WebSocket'
  return null
}

async function main(): Promise<void> {
  const emulator = await startEmulator()
  const credential = { key: 'sk-upstream', fields: {} }
  const views = Object.entries(models).map(([id, { provider }]) => [id, { provider, customHost: emulator.url, credential }])
  const bed = await startGateway({ providers: Object.fromEntries(views) })
  const tally = { passed: 0, failed: 0 }
  for (const [id, model] of runs) {
    const agent: Agent = agents[id]
    const title = `${agent.title} ${agent.version} on ${models[model].model}`
    const program = await install(agent)
    if (program === null) {
      console.log(`SKIPPED - ${title}: ${agent.package} cannot be installed on this machine. NOTHING WAS PROVEN.`)
      continue
    }
    const fault = await runAgent(agent, model, program, { bed, emulator })
    console.log(fault === null ? `ok - ${title}` : `not ok - ${title}: ${fault}`)
    tally[fault === null ? 'passed' : 'failed'] += 1
  }
  await bed.stop()
  await emulator.stop()
  console.log(`${tally.passed} passed, ${tally.failed} failed`)
  process.exitCode = tally.failed > 0 ? 1 : 0
}

await main()
