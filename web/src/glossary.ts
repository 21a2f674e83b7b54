// What quantities are called and what they mean, in the words of docs/. A name that is not here is shown as it is.

const WORDS: { [name: string]: [string, string] } = {
    // simulations
    'cosine.mean': ['mean cosine', 'The mean over all pairs of tokens of the cosine of the angle between them: 0 for unrelated tokens, 1 when all are the same.'],
    'cosine.lo': ['mean cosine, lower edge', '5 % of the systems (independent starts) are below.'],
    'cosine.hi': ['mean cosine, upper edge', '5 % of the systems (independent starts) are above.'],
    'one_minus_cosine': ['1 − mean cosine', 'How far the tokens are from being one, on a scale that keeps its digits close to the end; best seen with a log axis.'],
    'speed': ['angular speed', 'How fast a token turns: the mean length of the change of its direction per unit of time (depth).'],
    'radius.mean': ['length of the stream', 'The mean length of a token\'s vector in the residual stream. Schemes that do not normalise the stream let it grow, which slows later blocks down.'],
    'radius.min': ['shortest vector', 'The smallest length among all tokens.'],
    'radius.max': ['longest vector', 'The largest length among all tokens.'],
    'variance': ['variance of directions', 'The mean squared distance of a token\'s direction from the mean direction.'],
    'energy': ['energy', 'Minus the mean over pairs of exp(β (cosine − 1)). Without a mask it never rises for the paper\'s six schemes: attention pulls tokens together.'],
    'clusters': ['clusters', 'Groups of tokens that point almost the same way (cosine above 0.999).'],
    'effective_rank': ['effective rank', 'How many directions the tokens fill; 1 when all of them are one.'],
    // training
    'loss': ['loss', 'The mean of −log p of the next token on the batch of the step, in nats: lower is better.'],
    'validation_loss': ['validation loss', 'The same on text that the model is not trained on.'],
    'lr': ['learning rate', 'The size of the optimiser\'s step.'],
    'learning_rate': ['learning rate', 'The size of the optimiser\'s step.'],
    'gradient': ['length of the gradient', 'How strongly the loss reacts: the length of its gradient with respect to the stream after a block.'],
    'gradient_norm': ['length of the gradient', 'How strongly the loss reacts: the length of its gradient with respect to all weights, before clipping.'],
    'tokens_per_second': ['tokens a second', 'Speed of the training run.'],
    // blocks of a model
    'norm': ['length of the stream', 'The mean length of a token\'s vector after the block.'],
    'norm_low': ['length, lower edge', '5 % of the tokens are shorter.'],
    'norm_median': ['median length', 'Half of the tokens are shorter.'],
    'norm_high': ['length, upper edge', '5 % of the tokens are longer.'],
    'mean_abs': ['mean absolute entry', 'The mean absolute value of all entries of the stream.'],
    'entry_variance': ['variance of entries', 'Variance over the tokens and channels of one text window.'],
    'data_variance': ['variance over windows', 'Variance of each entry over text windows.'],
    'cosine': ['cosine of two tokens', 'The mean cosine of the vectors of two tokens of one window: 1 when all tokens are the same.'],
    'collapse_residual': ['distance from collapse', 'How far the tokens are from being one vector; 0 when they are.'],
    'largest': ['largest entry', 'The largest absolute value of an entry of the stream.'],
    'median_abs': ['median entry', 'The median absolute value of an entry.'],
    'attention_norm': ['what attention adds', 'The mean length of what attention adds to the stream in this block.'],
    'attention_ratio': ['attention\'s share', 'The same over the length of the stream that enters the block.'],
    'attention_cosine': ['attention along the stream', 'The cosine of what attention adds with the stream.'],
    'ffn_norm': ['what the FFN adds', 'The mean length of what the feed-forward network adds to the stream in this block.'],
    'ffn_ratio': ['the FFN\'s share', 'The same over the length of the stream that enters the block.'],
    'ffn_cosine': ['FFN along the stream', 'The cosine of what the feed-forward network adds with the stream.'],
    'angular_distance': ['turn of a block', 'The mean angle between the stream before and after the block, over π.'],
    'angular_predicted': ['predicted turn', 'What the equation and the gains of the norms predict for the turn.'],
    'angular_ratio': ['measured / predicted turn', 'About 0.7 when what a block adds points in random directions.'],
    'angle': ['turn of a block', 'The mean angle by which the block turns the stream, in radians.'],
    'angle_predicted': ['predicted turn', 'What the equation predicts for the turn.'],
    'angle_ratio': ['measured / predicted turn', 'About 0.7 when what a block adds points in random directions.'],
    'influence': ['influence of a block', '1 minus the mean cosine of the stream before and after the block.'],
    'entropy': ['entropy of attention', '−Σ p log p of the attention weights, in nats: 0 when all weight is on one token.'],
    'sink': ['weight of one key', 'A head that gives most of its weight to one token, often the first, is called a sink.'],
    'sink_heads': ['share of sink heads', 'Heads that give the first token a mean weight above 0.3.'],
    'largest_logit': ['largest score', 'The largest attention score before the softmax.'],
    'gain_mean': ['mean gain', 'The mean absolute gain of the block\'s norms.'],
    'gain_largest': ['largest gain', 'The largest absolute gain of the block\'s norms.'],
    'drop': ['loss without the block', 'By how much the loss rises when the block is left out.'],
    'lens_loss': ['loss if the model ended here', 'The stream after this block goes straight through the final norm and the output.'],
    'lens_agreement': ['agreement with the end', 'Share of tokens whose next token is already the one that the whole model says.'],
    // heads
    'active': ['active keys', 'How many keys hold 90 % of the weight, mean over queries.'],
    'active_share': ['share of active keys', 'The share of the keys that hold 90 % of the weight: small for a selective head.'],
    'entropy_share': ['entropy, as a share', 'Entropy of the weights over that of uniform weights.'],
    'peak': ['largest weight', 'The largest weight of a query, mean over queries.'],
    'sink_key': ['sink key', 'Which key gets the most weight.'],
    'separation_ratio': ['separation', 'N_s/N: the share of selected keys that are closer to what was selected than every other key. 1: selection is clean.'],
    'separation_n': ['N of the separation', 'How many keys were selected.'],
    'temperature': ['temperature', 'What the scores are divided by.'],
    'spectral': ['sensitivity', 'The spectral norm of the softmax\'s Jacobian: how fast the weights move when scores do.'],
    'infinity': ['sensitivity (infinity norm)', 'The infinity norm of the softmax\'s Jacobian.'],
    'rows': ['rows', 'How many queries were measured.'],
    'diagnosis': ['in words', ''],
    // limits over length and N
    'true': ['distance', 'How far the vectors that are selected (the N heaviest) are from those that are not.'],
    'expected': ['expected distance', 'The mean distance if the N keys were drawn at random.'],
    'expected_rms': ['expected distance (root mean square)', 'Never below the expected distance.'],
    'bound': ['bound', 'What the theorem of the paper allows at most.'],
    'share': ['share of the weight', 'How much of the weight the N heaviest keys hold.'],
    'uniformity': ['uniformity', 'How even the weights are.'],
    'ratio': ['separation', 'The share of the selected keys that are closer to what was selected than every other key.'],
    'lower': ['lower bound', 'What the theorem promises at least.'],
    'upper': ['upper bound', 'What the theorem allows at most.'],
    // preflight
    'stream': ['size of the stream', 'Root mean square of the residual stream of a fresh model after each block.'],
    'memory': ['memory of the input', 'How much of the embedding is still seen in the stream: a cosine.'],
};

// Edges of a band over systems: "speed.lo".
function edge_of(name: string): [string, string] | null {
    const found = /^(.+)[.](lo|hi)$/.exec(name);
    return found ? [found[1]!, found[2] === 'lo' ? 'lower' : 'upper'] : null;
}

export function label_of(name: string): string {
    const edge = Object.prototype.hasOwnProperty.call(WORDS, name) ? null : edge_of(name);
    if (edge) return `${label_of(edge[0])}, ${edge[1]} edge`;
    return Object.prototype.hasOwnProperty.call(WORDS, name) ? WORDS[name]![0] : name.replace(/_/g, ' ');
}
export function meaning_of(name: string): string {
    const edge = Object.prototype.hasOwnProperty.call(WORDS, name) ? null : edge_of(name);
    if (edge) return `5 % of the systems (independent starts) are ${edge[1] === 'lower' ? 'below' : 'above'}.`;
    return Object.prototype.hasOwnProperty.call(WORDS, name) ? WORDS[name]![1] : '';
}

// What a command is for, for somebody who has not run it.
const COMMANDS: { [command: string]: [string, string] } = {
    simulate: ['Simulation', 'A scheme says where a transformer block normalises. Here the tokens of a text are particles that attention pulls towards each other, ' +
        'layer after layer; time is depth. All schemes start from the same place. What to look for: how early the tokens move, and whether they end up all alike.'],
    reproduce: ['Claims of the papers', 'What papers state about normalization in transformers, each statement tried.'],
    train: ['Training', 'Small language models trained on the same text. What to look for: the loss, and how long the stream and its gradients are over depth.'],
    inspect: ['Where depth goes', 'One or several trained models, measured block by block on a text.'],
    limits: ['What attention can select', 'Every attention head of a model measured: how many tokens it selects, how clearly, and how sensitive it is.'],
    check: ['Preflight', 'Would a block of this equation train? Findings from its text, from fresh models, and from short training runs.'],
    '': ['Nothing yet', ''],
    theory: ['Theory', 'What the equation itself predicts for tokens that start with equal angles between them.'],
};
export function command_words(command: string): [string, string] {
    return Object.prototype.hasOwnProperty.call(COMMANDS, command) ? COMMANDS[command]! : [command, ''];
}
