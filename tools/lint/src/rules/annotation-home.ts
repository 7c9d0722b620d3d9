import type { Rule } from 'eslint'
import type { Node } from 'estree'

/** A key, or the end of a template's constant part: `ovn.kubernetes.io/mac_address`, `.kubernetes.io/`, `kubeovn.io/x`. */
const key = /(^|\.)(?:kubernetes|kubeovn)\.io\/(?!v\d)/
/** The prefix by itself, to be put before a name. */
const prefix = /\.kubernetes\.io$/
/** Text in which such words are an address or a path. */
const elsewhere = /:\/\/|^\//

/**
 * Keeps the keys of annotations, labels and finalizers where each has one home and one parser.
 *
 * The API group itself, `kubeovn.io` and `kubeovn.io/v1`, is no key.
 */
export const annotationHome: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'Forbids annotation keys outside of the annotations library' },
    schema: [],
    messages: {
      key: "'{{text}}' belongs into libs/model/annotations; import it from @kube-ovn/annotations",
    },
  },
  create(context) {
    function check(node: Node, text: string): void {
      if (!elsewhere.test(text) && (key.test(text) || prefix.test(text)))
        context.report({ node, messageId: 'key', data: { text } })
    }
    return {
      Literal(node) {
        if (typeof node.value === 'string') check(node, node.value)
      },
      TemplateElement(node) {
        check(node, node.value.cooked ?? node.value.raw)
      },
    }
  },
}
