import type { Rule } from 'eslint'
import { importSources } from './import-sources.ts'

export interface PackageImportsOptions {
  /** Packages that may be imported for their types alone. */
  readonly typesOnly: readonly string[]
  /** Packages that may not be imported at all. */
  readonly forbidden: readonly string[]
  /** Why, and what to do about it: a sentence without a full stop. */
  readonly cure: string
}

/** Holds imports of some packages to types, and forbids others; what the boundary rule can not tell apart. */
export const packageImports: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Forbids packages, or all but their types' },
    schema: [
      {
        type: 'object',
        properties: {
          typesOnly: { type: 'array', items: { type: 'string' } },
          forbidden: { type: 'array', items: { type: 'string' } },
          cure: { type: 'string' },
        },
        required: ['typesOnly', 'forbidden', 'cure'],
        additionalProperties: false,
      },
    ],
    messages: {
      typesOnly: 'Only types may be imported from {{source}}: {{cure}}',
      forbidden: '{{source}} may not be imported here: {{cure}}',
    },
  },
  create(context) {
    const [{ typesOnly, forbidden, cure }] = context.options as [PackageImportsOptions]
    return importSources((source, node, isTypeOnly) => {
      const data = { source, cure }
      if (isIn(forbidden, source)) context.report({ node, messageId: 'forbidden', data })
      else if (!isTypeOnly && isIn(typesOnly, source)) context.report({ node, messageId: 'typesOnly', data })
    })
  },
}

function isIn(packages: readonly string[], source: string): boolean {
  return packages.some((name) => source === name || source.startsWith(`${name}/`))
}
