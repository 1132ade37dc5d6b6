//! Unbalanced Tree Search on the tree T1: the children of a node by rayon::join of the first and the rest.

use peers::sha1::{sha1, Digest};

const T1_NODES: i64 = 4_130_071;
const SEED: u32 = 19;
const MEAN: f64 = 4.0; // children of a node
const MAX_DEPTH: u32 = 10;

struct Node {
    state: Digest,
    height: u32,
}

impl Node {
    fn child(&self, index: u32) -> Node {
        let s = &self.state;
        Node { state: sha1(&[s[0], s[1], s[2], s[3], s[4], index]), height: self.height + 1 }
    }

    fn children(&self) -> u32 {
        if self.height >= MAX_DEPTH {
            return 0;
        }
        let uniform = f64::from(self.state[4] & 0x7fffffff) / 2147483648.0;
        let none = 1.0 / (1.0 + MEAN);
        (((1.0 - uniform).ln() / (1.0 - none).ln()) as u32).min(100)
    }
}

#[derive(Clone, Copy)]
struct Tally {
    nodes: u64,
    leaves: u64,
    depth: u32,
}

fn add(a: Tally, b: Tally) -> Tally {
    Tally { nodes: a.nodes + b.nodes, leaves: a.leaves + b.leaves, depth: a.depth.max(b.depth) }
}

fn visit_children(node: &Node, first: u32, last: u32) -> Tally {
    if last - first == 1 {
        return visit(&node.child(first));
    }
    let (one, others) = rayon::join(|| visit(&node.child(first)), || visit_children(node, first + 1, last));
    add(one, others)
}

fn visit(node: &Node) -> Tally {
    let children = node.children();
    if children == 0 {
        return Tally { nodes: 1, leaves: 1, depth: node.height };
    }
    add(Tally { nodes: 1, leaves: 0, depth: node.height }, visit_children(node, 0, children))
}

fn main() {
    peers::run(|size| {
        assert!(size == T1_NODES, "the size is {}, that of the tree T1", T1_NODES);
        let sum = visit(&Node { state: sha1(&[0, 0, 0, 0, SEED]), height: 0 });
        sum.nodes + (sum.leaves << 28) + (u64::from(sum.depth) << 56)
    })
}
