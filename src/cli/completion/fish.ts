import type { Place } from './places.ts'

/** The completion for fish. */
export const fishCompletion = (places: readonly Place[]): string => `# fish completion for gatehouse: gatehouse completion fish | source
function __gatehouse_at
  set -l at ''
  set -l value ''
  for word in (commandline -opc)[2..]
    if test -n "$value"
      set value ''
      continue
    end
    switch "$at $word"
${places.flatMap(steps).join('\n')}
    end
  end
  echo "$at"
end
complete -c gatehouse -f
${places.flatMap(completions).join('\n')}
`

function steps({ path, valued }: Place): readonly string[] {
  const at = path.lastIndexOf('/')
  const step = path === '' ? [] : [`      case ${quote(`${path.slice(0, at)} ${path.slice(at + 1)}`)}`, `        set at ${quote(path)}`]
  const values = valued.flatMap(({ flags }) => [
    `      case ${flags.map((flag) => quote(`${path} ${flag}`)).join(' ')}`,
    '        set value yes',
  ])
  return [...values, ...step]
}

function completions({ path, commands, options, choices, valued }: Place): readonly string[] {
  const line = `complete -c gatehouse -n ${quote(`test (__gatehouse_at) = ${quote(path)}`)}`
  const value = (flag: string) => {
    const option = valued.find(({ flags }) => flags.includes(flag))
    if (option === undefined) return ''
    return option.choices.length > 0 ? ` -x -a ${quote(option.choices.join(' '))}` : ' -r -F'
  }
  return [
    ...commands.map(({ text, about }) => `${line} -a ${text} -d ${quote(about)}`),
    ...choices.map((text) => `${line} -a ${text}`),
    ...options.map(({ text, about }) => `${line} ${flag(text)}${value(text)} -d ${quote(about)}`),
  ]
}

const flag = (text: string) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`)

const quote = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
