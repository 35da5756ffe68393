import type { Place, Word } from './places.ts'
import { quote, walk } from './posix.ts'

/** The completion for zsh: in a folder of $fpath as _gatehouse, or sourced. */
export const zshCompletion = (places: readonly Place[]): string => `#compdef gatehouse
# zsh completion for gatehouse: source <(gatehouse completion zsh)
_gatehouse() {
  local at="" value="" i
  local -a candidates
  for ((i = 2; i < CURRENT; i++)); do
    if [[ -n $value ]]; then value=""; continue; fi
    case "$at \${words[i]}" in
${walk(places)}
    esac
  done
  if [[ $value == " " ]]; then
    _files
    return
  elif [[ -n $value ]]; then
    candidates=(\${=value})
  else
    case "$at" in
${places.map(wordsAt).join('\n')}
    esac
  fi
  _describe -t commands gatehouse candidates
}
if [[ $funcstack[1] == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`

const wordsAt = ({ path, commands, options, choices }: Place): string => {
  const words = [...commands, ...choices.map((text) => ({ text, about: '' })), ...options]
  return `      ${quote(path)}) candidates=(${words.map(candidate).join(' ')}) ;;`
}

const candidate = ({ text, about }: Word) => quote(`${text.replaceAll(':', String.raw`\:`)}${about === '' ? '' : `:${about}`}`)
