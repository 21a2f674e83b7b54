// The words and the grammar of the synthetic language. Whoever changes them changes every entropy rate.
#include <algorithm>
#include <sstream>

#include "train/synthetic.hpp"

namespace flyball::train {

namespace {

constexpr double copies = 0.2;

std::vector<std::string> listed(const char* words) {
    std::istringstream stream(words);
    std::vector<std::string> list;
    for (std::string word; stream >> word;) {
        list.push_back(word);
    }
    return list;
}

// At most six letters, so that copies reach further back in half a context; no word in two classes.
std::vector<Grammar::WordClass> word_classes() {
    return {
        {"stop", '\n', listed(". ! ?")},
        {"determiner", ' ', listed("the a his this that every some no each their")},
        {"adjective", ' ',
         listed(
             "old new small great long dark young white black little cold red deep green heavy bright silent open high "
             "warm gentle broken golden hidden empty narrow quiet sharp clever hollow proud bitter sudden wild remote "
             "tall")},
        {"noun", ' ',
         listed(
             "man king house day night door river stone hand water child sea light tree road ship mother fire horse "
             "field "
             "voice city wind world friend moon book garden wall bird heart summer winter sister father song bridge "
             "sword "
             "window forest island cloud tower story shadow crown valley lamp table letter market dawn bread glass "
             "boat "
             "snow rain leaf root lion wolf fox dog cat ring coin map key bell drum candle carpet mirror thread needle "
             "hammer anchor harbor meadow desert temple palace castle hamlet street corner ladder basket kettle pocket "
             "button pillow flower petal queen")},
        {"pronoun", ' ', listed("he she it they we you i who")},
        {"verb", ' ',
         listed("is was has saw knows finds loves keeps takes gives hears holds leaves left made found calls asks "
                "tells sings "
                "walks runs waits sleeps dreams turns closes breaks builds burns buys sells lifts drops throws wants "
                "needs "
                "hopes fears hates reads writes draws paints cuts binds hides seeks guards rules serves joins fills "
                "drinks "
                "eats cooks sails climbs falls rises shines fades speaks laughs")},
        {"adverb", ' ',
         listed("not then now never still again soon always here there often slowly once softly away almost down far")},
        {"preposition", ' ', listed("of in to on with at by from under over near into behind across beyond upon")},
        {"conjunction", ' ', listed("and but or so yet while")},
    };
}

}  // namespace

Grammar synthetic_grammar(std::size_t context) {
    Grammar grammar;
    grammar.classes = word_classes();
    grammar.next = {
        // stop  det   adj   noun  pron  verb  adv   prep  conj
        {0.00, 0.50, 0.10, 0.00, 0.25, 0.00, 0.10, 0.05, 0.00},  // stop
        {0.00, 0.00, 0.35, 0.65, 0.00, 0.00, 0.00, 0.00, 0.00},  // determiner
        {0.00, 0.00, 0.15, 0.85, 0.00, 0.00, 0.00, 0.00, 0.00},  // adjective
        {0.25, 0.00, 0.00, 0.00, 0.00, 0.45, 0.00, 0.20, 0.10},  // noun
        {0.00, 0.00, 0.00, 0.00, 0.00, 0.80, 0.20, 0.00, 0.00},  // pronoun
        {0.10, 0.45, 0.00, 0.00, 0.10, 0.00, 0.15, 0.20, 0.00},  // verb
        {0.30, 0.00, 0.10, 0.00, 0.00, 0.40, 0.00, 0.20, 0.00},  // adverb
        {0.00, 0.75, 0.15, 0.00, 0.10, 0.00, 0.00, 0.00, 0.00},  // preposition
        {0.00, 0.50, 0.00, 0.00, 0.30, 0.00, 0.20, 0.00, 0.00},  // conjunction
    };
    grammar.copy = copies;
    std::size_t longest = 0;
    for (const Grammar::WordClass& one : grammar.classes) {
        for (const std::string& word : one.words) {
            longest = std::max(longest, word.size() + 1);
        }
    }
    grammar.distances = distances_within(context / 2, longest);
    return grammar;
}

}  // namespace flyball::train
