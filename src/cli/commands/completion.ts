import { Argument, type Command } from 'commander'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { placesOf, type Place } from '../completion/places.ts'
import { zshCompletion } from '../completion/zsh.ts'
import { explain } from '../command-help.ts'

const shells: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** `gatehouse completion <shell>`. */
export const addCompletion = (program: Command): Command =>
  explain(program.command('completion'), { example: 'gatehouse completion bash > ~/.local/share/bash-completion/completions/gatehouse' })
    .description('Writes the script by which a shell completes commands and options.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .action((shell: string) => console.log(shells[shell]?.(placesOf(program)).trimEnd()))
