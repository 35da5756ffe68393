/** Selects the limits of a row as JSON. */
export const limitedColumn = (table: string): string => `
         json_build_object('rateLimits', ${table}.rate_limits, 'usageLimits', ${table}.usage_limits,
           'usageFrom', (extract(epoch FROM ${table}.usage_reset_at) * 1000)::float8, 'createdAt', (extract(epoch FROM ${table}.created_at) * 1000)::float8)`
