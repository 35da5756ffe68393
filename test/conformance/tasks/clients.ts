import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { CohereClient } from 'cohere-ai'
import OpenAI from 'openai'
import type { TaskAddress } from './area.ts'

type Address = Pick<TaskAddress, 'origin' | 'key'>

/** The official clients, none of which tries again. */
export const openaiAt = ({ origin, key }: Address): OpenAI => new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 })

export const anthropicAt = ({ origin, key }: Address): Anthropic => new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0 })

export const googleAt = ({ origin, key }: Address): GoogleGenAI => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })

export const cohereAt = ({ origin, key }: Address): CohereClient => new CohereClient({ token: key, environment: origin, maxRetries: 0 })

/** Returns the fields of the provider's own as a client's body has them. */
export const optionsOf = ({ options }: TaskAddress): object => (options === undefined ? {} : { provider_options: options })
