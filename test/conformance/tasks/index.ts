import type { Area } from './area.ts'
import { audio } from './audio.ts'
import { counts } from './counts.ts'
import { embeddings } from './embeddings.ts'
import { images } from './images.ts'
import { moderations } from './moderations.ts'
import { rerank } from './rerank.ts'

/** The work that is no conversation. */
export const areas: Readonly<Record<string, Area>> = { counts, embeddings, rerank, images, audio, moderations }
