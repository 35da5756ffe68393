import type { Place } from './places.ts'
import { quote, walk } from './posix.ts'

/** The completion for bash. Where it has no words, bash completes with files. */
export const bashCompletion = (places: readonly Place[]): string => `# bash completion for gatehouse: source <(gatehouse completion bash)
_gatehouse() {
  local at="" value="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ -n $value ]]; then value=""; continue; fi
    case "$at \${COMP_WORDS[i]}" in
${walk(places)}
    esac
  done
  if [[ -n $value ]]; then
    words=$value
  else
    case "$at" in
${places.map(wordsAt).join('\n')}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gatehouse gatehouse
`

const wordsAt = ({ path, commands, options, choices }: Place): string => {
  const words = [...commands.map(({ text }) => text), ...choices, ...options.map(({ text }) => text)]
  return `      ${quote(path)}) words=${quote(words.join(' '))} ;;`
}
