import type { Argument, Command, Option } from 'commander'

/** A word that can be written at a place of the command line. */
export interface Word {
  readonly text: string
  readonly about: string
}

/** An option that takes a value. */
export interface ValueOption {
  readonly flags: readonly string[]
  /** The values that it takes; empty: a file, or anything. */
  readonly choices: readonly string[]
}

/** One command, by the words that lead to it: `/release/check`; the program itself is empty. */
export interface Place {
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly Word[]
  /** The values of its first argument, where they are known. */
  readonly choices: readonly string[]
  readonly valued: readonly ValueOption[]
}

/** Every place of a command tree, the program first. */
export function placesOf(command: Command, path = ''): readonly Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const options = help.visibleOptions(command)
  const own: Place = {
    path,
    commands: commands.map((child) => ({ text: child.name(), about: firstSentence(child.description()) })),
    options: options.flatMap((option) => flagsOf(option).map((text) => ({ text, about: firstSentence(option.description) }))),
    choices: choicesOf(command.registeredArguments[0]),
    valued: options.filter(({ required, optional }) => required || optional).map(toValued),
  }
  const children = command.commands.flatMap((child) => placesOf(child, `${path}/${child.name()}`))
  return [own, ...children]
}

const flagsOf = ({ long, short }: Option): readonly string[] => [long, short].flatMap((flag) => flag ?? [])
const toValued = (option: Option): ValueOption => ({ flags: flagsOf(option), choices: option.argChoices ?? [] })
const choicesOf = (argument: Argument | undefined): readonly string[] => argument?.argChoices ?? []
const firstSentence = (text: string) => text.split(/[.:;] /)[0]?.replace(/\.$/, '') ?? ''
