import type { Rule } from 'eslint'
import type { ImportDeclaration, Node } from 'estree'

/** Tells of each module that a file names: by import, by export from and by import() of a constant. */
export function importSources(
  visit: (source: string, node: Node, isTypeOnly: boolean) => void,
): Rule.RuleListener {
  function literal(source: Node | null | undefined, node: Node, isTypeOnly: boolean): void {
    if (source?.type === 'Literal' && typeof source.value === 'string') visit(source.value, node, isTypeOnly)
  }
  return {
    ImportDeclaration: (node) => literal(node.source, node, isTypeImport(node)),
    ExportNamedDeclaration: (node) => literal(node.source, node, kindOf(node, 'exportKind') === 'type'),
    ExportAllDeclaration: (node) => literal(node.source, node, kindOf(node, 'exportKind') === 'type'),
    ImportExpression: (node) => literal(node.source, node, false),
  }
}

function isTypeImport(node: ImportDeclaration): boolean {
  const { specifiers } = node
  return (
    kindOf(node, 'importKind') === 'type' ||
    (specifiers.length > 0 && specifiers.every((specifier) => kindOf(specifier, 'importKind') === 'type'))
  )
}

/** TypeScript's parser adds `importKind` and `exportKind`, which the types of the syntax tree do not know. */
function kindOf(node: object, field: 'importKind' | 'exportKind'): unknown {
  return (node as Record<string, unknown>)[field]
}
