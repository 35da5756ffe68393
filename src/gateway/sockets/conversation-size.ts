import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ReadBefore } from '../limits/read-before.ts'

/** The size of the conversation that the provider of a session keeps. */
export interface ConversationSize {
  /** Adds sound, by the characters of its base64. */
  addSound(characters: number): void
  /** Adds words that no body shows. */
  addText(characters: number): void
  /** Returns the part of a turn's prompt that its body does not show, and its place; `characters`: of its body. `isBeside`: another one runs. */
  begin(characters: number, isBeside: boolean): { readonly before: ReadBefore; readonly place: number }
  /** Notes the usage of the turn that began at a place. */
  end(place: number, usage: unknown): void
}

const charactersPerToken = 3
/** A tenth of a second of the most packed sound is a token. */
const soundPerToken = 1067

/** `isOpen`: the conversation was begun elsewhere. */
export function createSize(isOpen: boolean): ConversationSize {
  /** The tokens of the last turn whose usage is known, and its place. */
  let known = { tokens: 0, audio: 0, place: 0 }
  let isKnown = false
  /** Tokens that came since the session began: their sum is a place. */
  let [place, sound, newSound] = [0, 0, 0]
  return {
    addSound(characters) {
      newSound += characters
    },
    addText(characters) {
      place += Math.ceil(characters / charactersPerToken)
    },
    begin(characters, isBeside) {
      const heard = Math.ceil(newSound / soundPerToken)
      newSound = 0
      place += heard
      sound += heard
      const since = place - known.place
      const before = {
        tokens: known.tokens + since,
        audio: Math.min(known.tokens + since, known.audio + sound),
        isOpen: !isKnown && (isOpen || isBeside),
      }
      place += Math.ceil(characters / charactersPerToken)
      return { before, place }
    },
    end(at, usage) {
      if (!isFields(usage) || at < known.place) return
      const tokens = figure(usage, 'input_tokens') + figure(usage, 'output_tokens')
      if (tokens === 0) return
      isKnown = true
      sound = 0
      known = { tokens, audio: Math.min(tokens, audioIn(usage, 'input') + audioIn(usage, 'output')), place: at }
    },
  }
}

const audioIn = (usage: Fields, side: 'input' | 'output'): number => {
  const details = usage[`${side}_token_details`]
  return isFields(details) ? figure(details, 'audio_tokens') : 0
}

const figure = (fields: Fields, name: string): number => {
  const value = fields[name]
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}
