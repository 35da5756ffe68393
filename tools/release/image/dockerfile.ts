/** The configuration that a Dockerfile's last stage gives to its image. */
export interface ImageSettings {
  readonly User: string
  readonly ExposedPorts: Readonly<Record<string, object>>
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Volumes: Readonly<Record<string, object>>
  readonly WorkingDir: string
  readonly Labels: Readonly<Record<string, string>>
}

type Draft = { -readonly [K in keyof ImageSettings]: ImageSettings[K] }

/** Reads the last stage, with the arguments of the build. Supports the instructions of our Dockerfile; throws on any other. */
export function settingsOfDockerfile(text: string, given: Readonly<Record<string, string>>): ImageSettings {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const starts = lines.findIndex((line) => line.startsWith('FROM '))
  const defaults = new Map<string, string>()
  for (const line of lines.slice(0, starts)) addArgument(defaults, line.replace('ARG ', ''), new Map())
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')) + 1)
  const values = new Map(Object.entries(given))
  const expand = (part: string) => part.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '')
  const draft: Draft = { User: '', ExposedPorts: {}, Env: [], Entrypoint: [], Cmd: [], Volumes: {}, WorkingDir: '/', Labels: {} }
  for (const line of stage) {
    const [instruction = '', rest = ''] = line.split(/ (.*)/s)
    if (instruction === 'ARG') addArgument(values, rest, defaults)
    else apply(draft, instruction, expand(rest.trim()))
  }
  return draft
}

/** A default, of its own or from before the first stage, which a given value overrides. */
function addArgument(values: Map<string, string>, text: string, defaults: ReadonlyMap<string, string>): void {
  const [name = '', otherwise = defaults.get(name) ?? ''] = text.split(/=(.*)/s)
  if (!values.has(name)) values.set(name, otherwise)
}

function apply(draft: Draft, instruction: string, rest: string): void {
  const change = instructions[instruction]
  if (change === undefined) throw new Error(`the Dockerfile has ${instruction} in its last stage, which is not known here`)
  change(draft, rest)
}

const instructions: Readonly<Record<string, (draft: Draft, rest: string) => void>> = {
  // The layer is the builder's affair.
  COPY: () => {},
  USER: (draft, rest) => (draft.User = rest),
  WORKDIR: (draft, rest) => (draft.WorkingDir = rest),
  EXPOSE: (draft, rest) => (draft.ExposedPorts = { ...draft.ExposedPorts, [`${rest}/tcp`]: {} }),
  VOLUME: (draft, rest) => (draft.Volumes = { ...draft.Volumes, [rest]: {} }),
  ENTRYPOINT: (draft, rest) => (draft.Entrypoint = words(rest)),
  CMD: (draft, rest) => (draft.Cmd = words(rest)),
  ENV: (draft, rest) => (draft.Env = [...draft.Env, ...pairs(rest).map(([name, value]) => `${name}=${value}`)]),
  LABEL: (draft, rest) => (draft.Labels = { ...draft.Labels, ...Object.fromEntries(pairs(rest)) }),
}

const words = (text: string): readonly string[] => [...text.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word)

const pairs = (text: string): readonly (readonly [string, string])[] =>
  [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''] as const)
