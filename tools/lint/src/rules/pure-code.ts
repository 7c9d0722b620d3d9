import { isBuiltin } from 'node:module'
import type { Rule, Scope } from 'eslint'
import type { MemberExpression, Node } from 'estree'
import { importSources } from './import-sources.ts'

/** Globals through which code reaches the clock, randomness or the process; `Math` and `Date` have harmless parts. */
const impureGlobals = ['performance', 'crypto', 'process', 'setTimeout', 'setInterval', 'setImmediate']

/**
 * Keeps code a function in the mathematical sense: nothing of Node, no clock, no randomness.
 *
 * Which files that concerns is up to the configuration. `new Date(ms)` is a conversion and allowed, `new Date()` reads the
 * clock. Names that the file declares itself are its own business.
 */
export const pureCode: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Forbids Node modules, the clock and randomness' },
    schema: [],
    messages: {
      node: 'Pure code may not import {{source}}; take what it gives as an argument',
      clock: 'Pure code may not read the clock; take the time, or a Clock, as an argument',
      random: 'Pure code may not draw randomness; take the number, or its source, as an argument',
      process: 'Pure code may not use {{name}}; take what it gives as an argument',
    },
  },
  create(context) {
    const { sourceCode } = context

    function check(name: string, node: Node): void {
      if (name === 'Date') checkDate(node)
      else if (name === 'Temporal') checkProperty(node, 'Now', 'clock')
      else if (name === 'Math') checkProperty(node, 'random', 'random')
      else if (name === 'performance') context.report({ node, messageId: 'clock' })
      else if (name === 'crypto') context.report({ node, messageId: 'random' })
      else if (impureGlobals.includes(name)) context.report({ node, messageId: 'process', data: { name } })
      else if (name === 'globalThis') checkGlobalProperty(node)
    }

    function checkDate(node: Node): void {
      const parent = parentOf(node)
      const isConversion = parent?.type === 'NewExpression' && parent.arguments.length > 0
      if (parent?.type === 'MemberExpression') checkProperty(node, 'now', 'clock')
      else if ((parent?.type === 'NewExpression' && !isConversion) || parent?.type === 'CallExpression')
        context.report({ node, messageId: 'clock' })
    }

    function checkProperty(node: Node, property: string, messageId: 'clock' | 'random'): void {
      const parent = parentOf(node)
      if (parent?.type === 'MemberExpression' && parent.object === node && propertyOf(parent) === property)
        context.report({ node, messageId })
    }

    function checkGlobalProperty(node: Node): void {
      const parent = parentOf(node)
      const name = parent?.type === 'MemberExpression' ? propertyOf(parent) : undefined
      if (parent !== undefined && name !== undefined) check(name, parent)
    }

    return {
      ...importSources((source, node) => {
        if (isBuiltin(source)) context.report({ node, messageId: 'node', data: { source } })
      }),
      'Program:exit'() {
        for (const reference of globalReferences(sourceCode.scopeManager.globalScope))
          check(reference.identifier.name, reference.identifier)
      },
    }
  },
}

/** References to what the file does not declare. */
function globalReferences(scope: Scope.Scope | null): readonly Scope.Reference[] {
  if (scope === null) return []
  const known = scope.variables.filter((variable) => variable.defs.length === 0)
  return [...scope.through, ...known.flatMap((variable) => variable.references)]
}

/** ESLint hangs the parent on every node; the types of the syntax tree do not know. */
function parentOf(node: Node): Node | undefined {
  return (node as Partial<Rule.NodeParentExtension>).parent
}

function propertyOf({ computed, property }: MemberExpression): string | undefined {
  if (!computed) return property.type === 'Identifier' ? property.name : undefined
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined
}
