import { z } from 'zod'

const hyperparameters = z.looseObject({
  n_epochs: z.union([z.literal('auto'), z.int().min(1).max(50)]).optional(),
  learning_rate_multiplier: z.union([z.literal('auto'), z.number().positive()]).optional(),
  batch_size: z.union([z.literal('auto'), z.int().min(1)]).optional(),
})

const method = z.looseObject({
  type: z.string().min(1),
  supervised: z.looseObject({ hyperparameters: hyperparameters.optional() }).optional(),
  dpo: z.looseObject({ hyperparameters: hyperparameters.optional() }).optional(),
})

/** The body of `POST /fine_tuning/jobs`: specification 4.7. */
export const fineTuningBody = z
  .looseObject({
    model: z.string().min(1),
    training_file: z.string().min(1),
    suffix: z.string().min(1),
    method,
    validation_file: z.string().nullish(),
    integrations: z
      .array(z.looseObject({ type: z.string() }))
      .max(5)
      .nullish(),
  })
  .meta({ description: 'A fine-tuning job to create.' })

/** The same as providers take it themselves. */
export const lenientFineTuningBody = fineTuningBody.extend({ suffix: z.string().min(1).nullish(), method: method.nullish() })
