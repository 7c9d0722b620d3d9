import { dirname, join } from 'node:path'
import type { Rule } from 'eslint'
import { importSources } from './import-sources.ts'

/**
 * Keeps a folder of `src` to itself: features know nothing of each other.
 *
 * Files beside the folders, such as the door of the package, may import from all of them.
 */
export const ownFolder: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Forbids imports from outside the folder' },
    schema: [],
    messages: {
      outside:
        '{{folder}} may not import {{source}}: what several features know belongs into a domain, in libs/domains',
    },
  },
  create(context) {
    const [, src, folder] = /^(.*\/src\/)([^/]+)\//.exec(context.filename) ?? []
    if (src === undefined || folder === undefined) return {}
    const own = `${src}${folder}/`
    return importSources((source, node) => {
      if (source.startsWith('.') && !join(dirname(context.filename), source).startsWith(own))
        context.report({ node, messageId: 'outside', data: { folder, source } })
    })
  },
}
