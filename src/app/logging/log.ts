import fs from 'node:fs'
import path from 'node:path'
import { pino, type DestinationStream, type Logger } from 'pino'
import { ConfigError, settings, type Config } from '../../config/index.ts'
import { JsonWriter } from '../../lib/json/json-writer.ts'
import { makeFolder } from '../../lib/make-folder.ts'
import { describeError } from './describe-error.ts'
import { type LineBlocks, openLineBlocks } from './line-blocks.ts'
import { screen } from './screen.ts'

/** The loggers of a process: JSON lines on stdout, distinguished by `log_type`. */
export interface Loggers {
  /** The log of the process's own actions. */
  readonly application: Logger
  /** One line a request, of named fields only; written in blocks, so that a line costs no system call. */
  readonly access: Logger
  /** Returns a writer of access lines, whose members `write` adds. It is the same line as `access` writes, for the hot path. */
  readonly accessLines: <Told>(write: (json: JsonWriter, told: Told) => void, message: string) => (told: Told) => void
  /** Resolves when every line has left the process. */
  flush(): Promise<void>
}

const stdout = 1

/** Opens the loggers. `destination` replaces stdout and `LOG_FILE` in tests. Throws the system's error for a file that it refuses. */
export function createLoggers(config: Pick<Config, 'logLevel' | 'logFile' | 'version'>, destination?: NodeJS.WritableStream): Loggers {
  const fd = config.logFile === null ? stdout : openLogFile(config.logFile)
  const blocks = destination === undefined ? openLineBlocks({ fd }) : null
  if (blocks !== null) process.once('exit', () => blocks.flushSync())
  const application = pino({ ...shared(config), redact }, destination ?? applicationStream(fd))
  const access = pino(shared(config), destination ?? blocks ?? undefined)
  const lines = blocks ?? linesTo(destination)
  return {
    application: application.child({ log_type: 'application' }),
    access: access.child({ log_type: 'access' }),
    accessLines(write, message) {
      const writeLine = (json: JsonWriter, told: Parameters<typeof write>[1]) => {
        json.open('{')
        json.member('level', 'info')
        json.member('time', isoTime())
        json.member('service', 'gatehouse')
        json.member('version', config.version)
        json.member('log_type', 'access')
        write(json, told)
        json.member('msg', message)
        json.close('}')
        json.line()
      }
      return (told) => {
        if (access.isLevelEnabled('info')) lines.add(writeLine, told)
      }
    },
    flush: async () => blocks?.flush(),
  }
}

/** Opens the file, for appending: several processes may share it, because a line is one write. Throws ConfigError. */
function openLogFile(file: string): number {
  try {
    makeFolder(path.dirname(file))
    return fs.openSync(file, 'a', 0o640)
  } catch (error) {
    const fault = `cannot be written to (${error instanceof Error ? error.message : String(error)})`
    throw new ConfigError([{ name: 'LOG_FILE', fault, example: settings.LOG_FILE.example }])
  }
}

/** Standard output alone, or a file beside a few plain lines on the screen. */
function applicationStream(fd: number): DestinationStream {
  const main = pino.destination({ fd, sync: true })
  return fd === stdout
    ? main
    : pino.multistream([
        { stream: main, level: 'trace' },
        { stream: screen, level: 'info' },
      ])
}

const shared = ({ logLevel, version }: Pick<Config, 'logLevel' | 'version'>) => ({
  level: logLevel,
  base: { service: 'gatehouse', version },
  timestamp,
  formatters: { level: (label: string) => ({ level: label }) },
  serializers: { err: describeError },
})

const timestamp = (): string => `,"time":"${isoTime()}"`

let stampedAt = 0
let stamp = ''

/** The time as ISO 8601, written once a millisecond. */
function isoTime(): string {
  const now = Date.now()
  if (now !== stampedAt) stamp = new Date(now).toISOString()
  stampedAt = now
  return stamp
}

/** Writes lines to a stream, one at a time. */
function linesTo(destination: NodeJS.WritableStream | undefined): Pick<LineBlocks, 'add'> {
  const line = new JsonWriter()
  return {
    add(write, told) {
      line.reset()
      write(line, told)
      destination?.write(line.bytes.toString('utf8', 0, line.end))
    },
  }
}

/** A second safeguard: no code should log these at all. */
const redact = {
  censor: '[secret]',
  paths: ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'apiKey', 'credential', 'headers'].flatMap((name) => [
    name,
    `*.${name}`,
  ]),
}
